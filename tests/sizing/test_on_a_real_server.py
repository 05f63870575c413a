"""The process on a real control plane, with its own rights. The test is VPA and kubelet."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from growth.api.crd import sizing_definition_files
from growth.api.wellknown import HVPA_TAKEOVER_ANNOTATION
from tests.live import ROOT, bring_down, bring_up, wait_until
from tests.sizing.server import INTERVALS, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

OWN: Final = "growth-sizing"
AUTOSCALING: Final = "autoscaling.k8s.io"
VPAS: Final = f"verticalpodautoscalers.{AUTOSCALING}"
LABELS: Final = {"app": "api"}
NODE: Final = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "room", "annotations": {"kwok.x-k8s.io/node": "fake"}},
    "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
}
DEPLOYMENT: Final = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "api"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {
                "containers": [
                    {
                        "name": "api",
                        "image": "registry.example/api:1",
                        "resources": {
                            "requests": {"cpu": "400m", "memory": "1Gi"},
                            "limits": {"memory": "2Gi"},
                        },
                    }
                ]
            },
        },
    },
}
HVPA: Final = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "Hvpa",
    "metadata": {"name": "api"},
    "spec": {"targetRef": REFERENCE, "scalingIntervals": INTERVALS, "hpa": {"deploy": False}},
}
VPA: Final = {
    "apiVersion": f"{AUTOSCALING}/v1",
    "kind": "VerticalPodAutoscaler",
    "metadata": {"name": "api"},
    "spec": {"targetRef": REFERENCE, "updatePolicy": {"updateMode": "Off"}},
    "status": {
        "conditions": [{"type": "RecommendationProvided", "status": "True"}],
        "recommendation": {
            "containerRecommendations": [{"containerName": "api", "target": {"cpu": "900m"}}]
        },
    },
}


def stand_in(plural: str, kind: str) -> dict[str, Any]:
    """A definition that takes whatever that of VPAs takes, without a status of its own."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{AUTOSCALING}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": AUTOSCALING,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "scope": "Namespaced",
            "versions": [version | {"schema": {"openAPIV3Schema": anything}}],
        },
    }


class SizedCluster:
    """A cluster with a workload, and what its kubelet does."""

    def __init__(self, cluster: LiveCluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.log = folder / "log"

    def install(self) -> None:
        """Definitions, and the rights of the process without its Deployment."""
        kinds = (
            ("verticalpodautoscalers", "VerticalPodAutoscaler"),
            ("verticalpodautoscalercheckpoints", "VerticalPodAutoscalerCheckpoint"),
        )
        definitions = [stand_in(*names) for names in kinds]
        definitions += [yaml.safe_load(text) for text in sizing_definition_files().values()]
        self.apply(definitions)
        names = [each["metadata"]["name"] for each in definitions]
        wait_until(lambda: all(map(self._is_served, names)), "they are served")
        for file in ("sizing/namespace", "sizing/sizing", "sizing-applying/rights"):
            text = (ROOT / f"manifests/{file}.yaml").read_text("utf-8")
            self.apply([e for e in yaml.safe_load_all(text) if e["kind"] != "Deployment"])

    def _is_served(self, name: str) -> bool:
        return self.cluster.try_kubectl("get", name).returncode == 0

    def apply(self, objects: list[dict[str, Any]]) -> None:
        self.cluster.kubectl("apply", "--server-side", "-f", "-", input=yaml.safe_dump_all(objects))

    @contextlib.contextmanager
    def sizing(self) -> Iterator[None]:
        """The process, from its start to its orderly end, with its own account."""
        words = ["--kubeconfig", str(self._own_kubeconfig()), "--lease-namespace", OWN]
        words += ["--mode", "Apply", "--metrics-address", "127.0.0.1:0", "--log-form", "json"]
        with (
            self.log.open("ab") as output,
            subprocess.Popen(
                [sys.executable, "-m", "sizing", *words], stdout=output, stderr=output
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

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.cluster.get("hvpas", "api").get("status", {})
        return found

    def pods(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.cluster.get("pods")["items"]
        return found

    def requests(self) -> list[str]:
        """The CPU of each pod, as its spec has it."""
        containers = [each["spec"]["containers"][0] for each in self.pods()]
        return [each["resources"]["requests"]["cpu"] for each in containers]

    def resize_as_asked(self) -> None:
        """Say what a kubelet says: each container has what its spec asks for."""
        for pod in self.pods():
            known = pod["status"].get("containerStatuses", [])
            asked = pod["spec"]["containers"][0]["resources"]
            if known and known[0].get("resources") != asked:
                given = known[0] | {"resources": asked, "allocatedResources": asked["requests"]}
                patch = json.dumps({"status": {"containerStatuses": [given]}})
                words = ("--subresource=status", "--type=merge", "--patch", patch)
                self.cluster.try_kubectl("patch", "pod", pod["metadata"]["name"], *words)

    def is_reached(self, cpu: list[str]) -> bool:
        self.resize_as_asked()
        is_told = "reachedAt" in self.status().get("lastScaling", {})
        return self.requests() == cpu and is_told


@pytest.fixture
def sized(tmp_path: Path) -> Iterator[SizedCluster]:
    name = f"growth-test-{os.getpid()}-sizing"
    try:
        found = SizedCluster(bring_up(name), tmp_path)
        found.install()
        yield found
    finally:
        bring_down(name)


def test_a_workload_gets_its_size_without_a_restart(sized: SizedCluster) -> None:
    sized.cluster.create(NODE, DEPLOYMENT, VPA, HVPA)
    wait_until(lambda: [p for p in sized.pods() if p["status"]["phase"] == "Running"], "it runs")
    [first] = sized.pods()

    with sized.sizing():
        # Whoever has created the Deployment has said how many replicas it has.
        reason = {"reason": "OwnedByOther"}
        wait_until(
            lambda: reason.items() <= sized.status().get("blocked", {}).items(), "its owner is told"
        )
        [owner] = sized.status()["refused"]["by"]
        assert sized.requests() == ["400m"]

        sized.cluster.kubectl("annotate", "hvpa", "api", f"{HVPA_TAKEOVER_ANNOTATION}={owner}")
        wait_until(lambda: sized.is_reached(["450m", "450m"]), "it has its size")

    pods = {each["metadata"]["uid"]: each for each in sized.pods()}
    assert first["metadata"]["uid"] in pods
    assert len(sized.cluster.get("replicasets")["items"]) == 1
    counts = [p["status"]["containerStatuses"][0]["restartCount"] for p in pods.values()]
    assert counts == [0, 0]
    template = sized.cluster.get("deployments", "api")["spec"]["template"]["spec"]
    assert template["containers"][0]["resources"]["requests"]["cpu"] == "400m"
    assert "Traceback" not in sized.log.read_text()
