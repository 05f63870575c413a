"""`growth plan --from-cluster` and `growth catalogue save --node-class`, on a real control plane.

The pools of these tests have names and classes of their own, so that the plan of one says nothing
of another's.
"""

from __future__ import annotations

import json
import re
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
import yaml

from growth.api.wellknown import GROUP_VERSION
from growth.api.written import write_time
from growth.cli.__main__ import main
from reconciler.providers.hetzner import price_list
from tests.cli.test_doctor import kubeconfig_for, nobody_listens
from tests.hetzner.conftest import TOKEN
from tests.hetzner.fake.api import Account
from tests.hetzner.fake.project import Project
from tests.hetzner.fake.serving import serve
from tests.live import ROOT, wait_until
from tests.quickest import takes_at_most
from tests.thread.growing import deployment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.live import LiveCluster

Plan = dict[str, Any]


def node_class(name: str) -> dict[str, Any]:
    """Small machines, and large ones that cost more."""
    types = [("small", "2", "4Gi", "0.01"), ("large", "8", "16Gi", "0.05")]
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "KwokNodeClass",
        "metadata": {"name": name},
        "spec": {
            "types": [
                {
                    "name": kind,
                    "resources": {"cpu": cpu, "memory": memory, "pods": "110"},
                    "offers": [{"location": "here", "price": price}],
                }
                for kind, cpu, memory, price in types
            ]
        },
    }


def pool(name: str, **spec: Any) -> dict[str, Any]:
    types = [{"name": "small", "max": 5}, {"name": "large", "max": 5}]
    reference = {"kind": "KwokNodeClass", "name": name}
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"serverTypes": types, "nodeClassRef": reference} | spec,
    }


@pytest.fixture
def own_pool(alone: LiveCluster, namespace: str) -> Iterator[str]:
    """A pool and a class of one name, for one test."""
    name = f"p-{namespace}"
    alone.create(node_class(name), pool(name))
    yield name
    alone.kubectl("delete", "nodepool,kwoknodeclass", name, "--wait=false")


@pytest.fixture
def planned(
    cluster: LiveCluster, own_pool: str, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Plan]:
    """What comes of `growth plan --from-cluster`, in the test's own pool."""

    def plan(*words: str) -> Plan:
        main(
            [
                "plan",
                "--from-cluster",
                "--kubeconfig",
                str(cluster.kubeconfig),
                "-o",
                "json",
                *words,
            ]
        )
        printed = capsys.readouterr()
        assert printed.out, printed.err
        found: Plan = json.loads(printed.out)
        found["nodes"] = [node for node in found["nodes"] if node["pool"] == own_pool]
        return found

    return plan


def types_in(plan: Plan) -> list[str]:
    return sorted(node["serverType"] for node in plan["nodes"])


def pods_in(plan: Plan) -> list[str]:
    return sorted(name for node in plan["nodes"] for name in node["pods"])


def wait_for_pods(cluster: LiveCluster, namespace: str, count: int) -> None:
    def made() -> bool:
        return len(cluster.get("pods", "--namespace", namespace)["items"]) == count

    wait_until(made, f"{count} pods")


def written(folder: Path, *documents: dict[str, Any]) -> str:
    path = folder / "what-if.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def in_namespace(document: dict[str, Any], namespace: str) -> dict[str, Any]:
    return {**document, "metadata": {**document["metadata"], "namespace": namespace}}


@pytest.mark.cluster
def test_pods_that_wait_in_the_cluster_are_planned_and_files_come_on_top(
    cluster: LiveCluster,
    namespace: str,
    own_pool: str,
    planned: Callable[..., Plan],
    tmp_path: Path,
) -> None:
    web = deployment("web", pool=own_pool, replicas=2, cpu="900m")
    cluster.create(web, namespace=namespace)
    wait_for_pods(cluster, namespace, 2)

    as_it_is = planned()
    assert types_in(as_it_is) == ["small"]
    assert len(pods_in(as_it_is)) == 2
    # What if it had eight replicas: they take the place of the two, and aren't added to them.
    scaled = in_namespace(deployment("web", pool=own_pool, replicas=8, cpu="900m"), namespace)
    bigger = planned("-f", written(tmp_path, scaled))
    assert len(pods_in(bigger)) == 8
    # What if only large machines could be had: the file's pool takes the place of the cluster's.
    only_large = pool(own_pool, serverTypes=[{"name": "large", "max": 5}])
    assert types_in(planned("-f", written(tmp_path, only_large))) == ["large"]


@pytest.mark.cluster
def test_what_runs_as_the_file_says_stays_and_what_differs_is_planned_anew(
    cluster: LiveCluster,
    namespace: str,
    own_pool: str,
    planned: Callable[..., Plan],
    tmp_path: Path,
) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"node-{namespace}",
            "labels": {"growth.dev/pool": own_pool, "growth.dev/instance-type": "small"},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}},
    }
    cluster.create(node)
    try:
        cluster.create(
            deployment("web", pool=own_pool, replicas=2, cpu="900m"), namespace=namespace
        )

        def bound() -> bool:
            pods = cluster.get("pods", "--namespace", namespace)["items"]
            return len(pods) == 2 and all("nodeName" in pod["spec"] for pod in pods)

        wait_until(bound, "both pods are bound")
        assert planned()["nodes"] == []
        # Two more than run: two stay, two are bought for.
        more = in_namespace(deployment("web", pool=own_pool, replicas=4, cpu="900m"), namespace)
        plan = planned("-f", written(tmp_path, more))
        assert len(pods_in(plan)) == 2
        # Others than run: the room of the old ones is theirs.
        other = in_namespace(deployment("web", pool=own_pool, replicas=2, cpu="1"), namespace)
        assert planned("-f", written(tmp_path, other))["nodes"] == []
    finally:
        cluster.kubectl("delete", "node", f"node-{namespace}", "--wait=false")


@pytest.mark.cluster
def test_machines_on_their_way_are_counted_on_and_what_is_sold_out_is_not(
    cluster: LiveCluster, namespace: str, own_pool: str, planned: Callable[..., Plan]
) -> None:
    cluster.create(deployment("web", pool=own_pool, replicas=1, cpu="900m"), namespace=namespace)
    wait_for_pods(cluster, namespace, 1)
    request = {
        "apiVersion": GROUP_VERSION,
        "kind": "NodeRequest",
        "metadata": {"name": (name := f"{own_pool}-{uuid4()}")},
        "spec": {
            "pool": own_pool,
            "targetOffering": "kwok-small",
            "serverType": "small",
            "location": "here",
            "price": "0.01",
            "resources": {"cpu": "2", "memory": "4Gi", "pods": "110"},
        },
    }
    assert types_in(planned()) == ["small"]
    cluster.create(request)
    assert types_in(planned()) == []
    unmet = {"phase": "Unmet", "lastTransitionTime": write_time(datetime.now(UTC))}
    patch = json.dumps({"status": unmet})
    cluster.kubectl(
        "patch", "noderequest", name, "--subresource=status", "--type=merge", "-p", patch
    )
    assert types_in(planned()) == ["large"]
    cluster.kubectl("delete", "noderequest", name)


def role_in_the_guide() -> dict[str, Any]:
    """The rights that people are told to give."""
    guide = (ROOT / "docs" / "guides" / "plan.md").read_text()
    found = re.search(r"```yaml\n(.*?)```", guide, re.DOTALL)
    assert found is not None
    role: dict[str, Any] = yaml.safe_load(found[1])
    return role


@pytest.mark.cluster
def test_the_rights_in_the_guide_are_enough(
    cluster: LiveCluster,
    namespace: str,
    own_pool: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    role = role_in_the_guide()
    role["metadata"]["name"] = name = f"plan-{namespace}"
    binding = {
        "apiVersion": role["apiVersion"],
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
    }
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    token = cluster.kubectl("create", "token", "default", "--namespace", namespace).strip()
    config["users"] = [{"name": "reader", "user": {"token": token}}]
    for each in config["contexts"]:
        each["context"]["user"] = "reader"
    kubeconfig = tmp_path / "kubeconfig.yaml"
    kubeconfig.write_text(yaml.safe_dump(config))
    words = ["plan", "--from-cluster", "--kubeconfig", str(kubeconfig), "-o", "json"]

    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "give this user a role with that verb and resource" in line
    cluster.create(role, binding)
    try:
        # Roles take a moment to be seen.
        wait_until(lambda: main(words) != 2, "the rights are seen")
        assert own_pool
    finally:
        cluster.kubectl("delete", "clusterrole,clusterrolebinding", name, "--wait=false")


@pytest.mark.cluster
@pytest.mark.usefixtures("own_pool")
def test_nothing_is_written(cluster: LiveCluster, planned: Callable[..., Plan]) -> None:
    versions = "--output=jsonpath={.items[*].metadata.resourceVersion}"
    read = ("get", "nodepools,kwoknodeclasses,noderequests", versions)
    before = cluster.kubectl(*read)
    assert before
    planned()
    assert cluster.kubectl(*read) == before


@pytest.mark.cluster
@pytest.mark.usefixtures("defined")
def test_the_token_of_a_node_class_reads_the_catalogue(
    cluster: LiveCluster,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("HCLOUD_TOKEN", raising=False)
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "hetzner"},
        "stringData": {"token": TOKEN},
    }
    hetzner = {
        "apiVersion": GROUP_VERSION,
        "kind": "HetznerNodeClass",
        "metadata": {"name": namespace},
        "spec": {
            "tokenSecretRef": {"namespace": namespace, "name": "hetzner", "key": "token"},
            "images": {"x86": "debian-13"},
            "bootstrap": {"kind": "K3s", "server": "https://10.0.0.2:6443"},
        },
    }
    cluster.create(secret, namespace=namespace)
    cluster.create(hetzner)
    own = ("--kubeconfig", str(cluster.kubeconfig))
    try:
        with serve(Account({TOKEN: Project()})) as endpoint:
            monkeypatch.setenv("GROWTH_HETZNER_ENDPOINT", endpoint)
            assert main(["catalogue", "save", "--node-class", namespace, *own]) == 0
            printed = capsys.readouterr()
            assert price_list.read_price_list(printed.out.encode(), name="output").currency == "EUR"
            assert TOKEN not in printed.out + printed.err
            assert main(["catalogue", "save", "--node-class", "missing", *own]) == 1
            (line,) = capsys.readouterr().err.splitlines()
            assert line == 'no HetznerNodeClass "missing" in this cluster'
    finally:
        cluster.kubectl("delete", "hetznernodeclass", namespace, "--wait=false")


def test_without_a_cluster_one_line_says_so_within_five_seconds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["plan", "--from-cluster", "--kubeconfig"]
    assert main([*words, nobody_listens(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "http://127.0.0.1:" in line
    # By now the engine is loaded, which takes as long as the machine is busy.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = kubeconfig_for(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}")

        def ask() -> None:
            assert main([*words, hanging]) == 1
            (line,) = capsys.readouterr().err.splitlines()
            assert "no answer within 3 s" in line

        assert takes_at_most(5, ask)


def test_with_nothing_to_plan_for_one_line_says_what_to_give(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["plan"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "-f FILE, --from-cluster, or both" in line
