"""The manager's process on a real API server, with its own rights. The test plays Cluster API."""

from __future__ import annotations

import contextlib
import json
import os
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from fleet.capi.objects import CLUSTER_LABEL, DEPLOYMENT_LABEL, GROUP
from fleet.capi.reading import THERE
from fleet.serving.door import PREFIX
from growth.api.crd import fleet_definition_files
from growth.api.wellknown import GROUP_VERSION
from growth.installation.definitions import is_established
from tests.fleet.bodies import a_body, without
from tests.live import ROOT, bring_down, bring_up, wait_until
from tests.service.authority import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

OWN: Final = "growth-fleet"
REGION: Final = {
    "provider": "aws",
    "region": "us-east-1",
    "clusterClass": "quick",
    "workerClass": "worker",
    "version": "v1.36.3",
    "zones": ["a", "b", "c"],
}
FLEET: Final = {
    "apiVersion": GROUP_VERSION,
    "kind": "ClusterFleet",
    "metadata": {"name": "kafka"},
    "spec": {
        "namespace": "default",
        "modelT": {"connections": 100, "partitions": 100},
        "regions": [REGION],
    },
}


def stand_in(plural: str, kind: str) -> dict[str, Any]:
    """A definition that takes whatever Cluster API's takes."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{GROUP}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": GROUP,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1beta2",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": anything},
                }
            ],
        },
    }


class Management:
    """A management cluster, and what its Cluster API does."""

    def __init__(self, cluster: LiveCluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.log = folder / "log"
        self.authority = Authority()
        self.authority.leaf().write_to(folder / "tls")

    def install(self) -> None:
        """Definitions, and the manager's rights without its Deployment."""
        kinds = ("clusters", "Cluster"), ("machinedeployments", "MachineDeployment")
        own = [stand_in(*names) for names in (*kinds, ("machines", "Machine"))]
        own += [yaml.safe_load(text) for text in fleet_definition_files().values()]
        for file in ("namespace", "manager"):
            text = (ROOT / f"manifests/fleet/{file}.yaml").read_text("utf-8")
            own += [each for each in yaml.safe_load_all(text) if each["kind"] != "Deployment"]
        definitions = [each for each in own if "CustomResource" in each["kind"]]
        self._apply(definitions)
        served = lambda: all(map(is_established, self.cluster.get("crd")["items"]))  # noqa: E731 - said once
        wait_until(served, "all definitions are served")
        self._apply([each for each in own if each not in definitions])

    def _apply(self, objects: list[dict[str, Any]]) -> None:
        self.cluster.kubectl("apply", "--server-side", "-f", "-", input=yaml.safe_dump_all(objects))

    @contextlib.contextmanager
    def managing(self) -> Iterator[None]:
        """The manager, from its start to its orderly end, with its own account."""
        words = ["--kubeconfig", str(self._own_kubeconfig()), "--fleet-namespace", OWN]
        words += ["--report-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0"]
        words += ["--report-tls-folder", str(self.folder / "tls"), "--log-form", "json"]
        with (
            self.log.open("ab") as output,
            subprocess.Popen(
                [sys.executable, "-m", "fleet", *words], stdout=output, stderr=output
            ) as process,
        ):
            try:
                yield
            finally:
                process.terminate()
                assert process.wait(timeout=60) == 0, self.log.read_text()

    def _own_kubeconfig(self) -> Path:
        told = yaml.safe_load(self.cluster.kubeconfig.read_text("utf-8"))
        token = self.cluster.kubectl("create", "token", OWN, "--namespace", OWN).strip()
        told["users"] = [{"name": "own", "user": {"token": token}}]
        told["contexts"][0]["context"]["user"] = "own"
        file = self.folder / "kubeconfig"
        file.write_text(yaml.safe_dump(told), "utf-8")
        return file

    def place(self) -> str:
        """Where reports are taken."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return str([each for each in lines if each["message"] == "managing"][-1]["report_address"])

    def put(self, name: str, body: dict[str, Any], *, token: str | None) -> int:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(
            f"https://{self.place()}{PREFIX}{name}/status",
            data=json.dumps(body).encode(),
            headers=headers,
            method="PUT",
        )
        trust = ssl.create_default_context(cadata=self.authority.certificate.decode())
        try:
            with urllib.request.urlopen(request, context=trust, timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def token(self, name: str) -> str:
        words = ("--namespace", OWN, "--audience", "growth-fleet")
        return self.cluster.kubectl("create", "token", f"agent-{name}", *words).strip()

    def records(self) -> dict[str, str]:
        """The state of each cluster."""
        found = self.cluster.get("clusterrecords")["items"]
        return {
            each["metadata"]["name"]: each.get("status", {}).get("state", "cluster_accepted")
            for each in found
        }

    def counts(self) -> tuple[int, int]:
        """What the status of the fleet says: its clusters, and those that are full."""
        status = self.cluster.get("clusterfleets", "kafka").get("status", {})
        return status.get("clusters", 0), status.get("full", 0)

    def starts(self) -> int:
        """How often the manager has begun to lead."""
        return self.log.read_text().count('"message": "managing"')

    def names(self, *words: str) -> list[str]:
        found = self.cluster.get(*words)["items"]
        return sorted(each["metadata"]["name"] for each in found)

    def grown(self) -> str:
        """The next cluster, as soon as its agent is awaited."""
        coming = "cluster_provisioning"
        wait_until(lambda: coming in self.records().values(), "one is asked for")
        [name] = [each for each, state in self.records().items() if state == coming]
        self.build(name)
        waiting = "waiting_for_kas_fleetshard_operator"
        wait_until(lambda: self.records()[name] == waiting, "its agent is awaited")
        return name

    def replicas(self, name: str) -> list[int]:
        found = self.cluster.get(f"clusters.{GROUP}", name)["spec"]["topology"]["workers"]
        return [each["replicas"] for each in found["machineDeployments"]]

    def build(self, name: str) -> None:
        """Do as Cluster API does: a deployment for each zone, and machines with nodes."""
        found = self.cluster.get(f"clusters.{GROUP}", name)
        deployments = found["spec"]["topology"]["workers"]["machineDeployments"]
        self._apply([each for one in deployments for each in _of_deployment(name, one)])
        for one in deployments:
            for number in range(one["replicas"]):
                status = {"status": {"nodeRef": {"name": f"{one['name']}-{number}"}}}
                self._status("machines", f"{name}-{one['name']}-{number}", status)
        conditions = [{"type": each, "status": "True"} for each in sorted(THERE)]
        self._status("clusters", name, {"status": {"conditions": conditions}})

    def _status(self, plural: str, name: str, patch: dict[str, Any]) -> None:
        words = ("--subresource=status", "--type=merge", "--patch", json.dumps(patch))
        self.cluster.kubectl("patch", f"{plural}.{GROUP}", name, *words)


def _of_deployment(cluster: str, deployment: dict[str, Any]) -> Iterator[dict[str, Any]]:
    name, replicas = f"{cluster}-{deployment['name']}", deployment["replicas"]
    labels = {CLUSTER_LABEL: cluster, DEPLOYMENT_LABEL: deployment["name"]}
    version = f"{GROUP}/v1beta2"
    yield {
        "apiVersion": version,
        "kind": "MachineDeployment",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"replicas": replicas},
    }
    for number in range(replicas):
        metadata = {"name": f"{name}-{number}", "namespace": "default", "labels": labels}
        yield {"apiVersion": version, "kind": "Machine", "metadata": metadata}


def report(*, current: int, ceiling: int, remaining: int) -> dict[str, Any]:
    body = a_body()
    nodes = {"ceiling": ceiling, "floor": 3, "current": current, "currentWorkLoadMinimum": 3}
    left = {**body["remaining"], "connections": remaining, "partitions": remaining}
    resize = {"nodeDelta": 3, "delta": {**left, "connections": 1000, "partitions": 1000}}
    return a_body(nodeInfo=nodes, remaining=left, resizeInfo=resize, instances=3)


@pytest.fixture
def management(tmp_path: Path) -> Iterator[Management]:
    name = f"growth-test-{os.getpid()}-fleet"
    try:
        found = Management(bring_up(name), tmp_path)
        found.install()
        yield found
    finally:
        bring_down(name)


def test_a_fleet_grows_by_reports(management: Management) -> None:
    management.cluster.create(FLEET)
    with management.managing():
        wait_until(management.records, "the empty region gets a cluster")
        [name] = management.records()
        provisioning = {name: "cluster_provisioning"}
        wait_until(lambda: management.records() == provisioning, "it is asked for")
        assert management.replicas(name) == [1, 1, 1]

        management.build(name)
        waiting = {name: "waiting_for_kas_fleetshard_operator"}
        wait_until(lambda: management.records() == waiting, "its agent is awaited")

        token = management.token(name)
        short = report(current=3, ceiling=6, remaining=0)
        assert management.put(name, short, token=None) == 401
        assert management.put("another", short, token=token) == 404
        assert management.put(name, without(a_body(), "total.partitions"), token=token) == 400
        wrong = management.cluster.kubectl("create", "token", OWN, "--namespace", OWN).strip()
        assert management.put(name, short, token=wrong) == 401
        assert management.put(name, short, token=token) == 204
        wait_until(lambda: management.replicas(name) == [2, 2, 2], "nodes come")
        growing = {name: "compute_node_scaling_up"}
        wait_until(lambda: management.records() == growing, "its record says so")

        assert management.put(name, short, token=token) == 204
        management.build(name)
        full = report(current=6, ceiling=6, remaining=0)
        assert management.put(name, full, token=token) == 204
        wait_until(lambda: len(management.records()) == 2, "another cluster comes")
        wait_until(lambda: management.records()[name] == "full", "the first one is full")
        assert management.replicas(name) == [2, 2, 2]
        wait_until(lambda: management.counts() == (2, 1), "the fleet counts both")

    # Another process goes on from what is written.
    with management.managing():
        wait_until(lambda: management.starts() == 2, "another one leads")
        assert management.put(name, full, token=token) == 204
    assert len(management.records()) == 2
    assert "Traceback" not in management.log.read_text()


@pytest.mark.long
def test_an_empty_cluster_goes_while_its_sibling_is_ready(management: Management) -> None:
    management.cluster.create(FLEET)
    with management.managing():
        first = management.grown()
        full = report(current=3, ceiling=3, remaining=0)
        assert management.put(first, full, token=management.token(first)) == 204
        second = management.grown()
        token = management.token(second)

        def both_report() -> bool:
            room = report(current=3, ceiling=6, remaining=500)
            empty = {**room, "instances": 0}
            assert management.put(first, room, token=management.token(first)) == 204
            return management.put(second, empty, token=token) in {400, 401}

        wait_until(both_report, "reports of the empty cluster are refused", within=240)
        wait_until(lambda: list(management.records()) == [first], "its record goes")
        assert management.names(f"clusters.{GROUP}") == [first]
        assert management.names("serviceaccounts", "--namespace", OWN) == [
            f"agent-{first}",
            "default",
            OWN,
        ]
    assert "Traceback" not in management.log.read_text()
