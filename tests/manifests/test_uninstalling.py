"""`growth uninstall`: whatever was lost before, nothing is left that could hold up a cluster."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from growth.cli.__main__ import main
from growth.installation.removing import (
    everything,
    is_our_config_map,
    released,
    remove_namespace,
)
from tests.certs.api import Api
from tests.live import wait_until
from tests.manifests.commands import grow
from tests.manifests.reading import ALL, SYSTEM
from tests.thread.growing import EXAMPLE, deployment, pool_of, reconciling

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

OURS = {"growth.dev/managed-by": "growth"}
HELD = {"finalizers": ["growth.dev/provider-cleanup"]}
REQUEST = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "NodeRequest",
    "metadata": {"name": "default-1", **HELD},
    "spec": {
        "pool": "default",
        "targetOffering": "kwok-cx23",
        "serverType": "cx23",
        "location": "nbg1",
        "price": "0.0088",
        "resources": {"cpu": "2", "memory": "4Gi"},
        "pods": [],
    },
}
TAINT = {"key": "growth.dev/scale-down", "value": "1", "effect": "NoSchedule"}
THEIRS = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "default-1",
        "labels": OURS,
        "annotations": {"growth.dev/scale-down-at": "2030-01-01T00:00:00Z"},
    },
    "spec": {"taints": [TAINT, THEIRS]},
}

TOKEN = {
    "apiVersion": "v1",
    "kind": "Secret",
    "type": "bootstrap.kubernetes.io/token",
    "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system", "labels": OURS},
    "stringData": {"token-id": "abcdef", "token-secret": "0123456789abcdef"},
}

LOSSES: dict[str, tuple[tuple[str, ...], ...]] = {
    "nothing": (),
    "the definitions, held by an object": (("delete", "crd", "--all", "--wait=false"),),
    "the namespace": (("delete", "namespace", SYSTEM, "--wait=false"),),
    "the processes and what they may": (
        ("delete", "deployment,daemonset,role,rolebinding", "--all", "--namespace", SYSTEM),
        ("delete", "clusterrole,clusterrolebinding", "--selector=app.kubernetes.io/name=growth"),
    ),
    "the registration": (("delete", "mutatingwebhookconfiguration", "growth-webhooks"),),
}

HARDEST = "the definitions, held by an object"


def test_everything_that_was_brought_is_taken_away() -> None:
    def titles(items: list[dict[str, Any]]) -> set[tuple[str, str]]:
        return {(each["kind"], each["metadata"]["name"]) for each in items}

    # A namespace may be somebody else's, and a digest is of one content: both are looked for.
    looked_for = {"Namespace", "ConfigMap"}
    brought = [each for each in ALL if each["kind"] not in looked_for]
    assert titles(brought) <= titles(everything(SYSTEM))


@pytest.mark.parametrize(
    ("taints", "annotations", "patch"),
    [
        ([], {}, None),
        ([THEIRS], {}, None),
        ([TAINT, THEIRS], {}, {"taints": [THEIRS]}),
        ([TAINT], {}, {"taints": None}),
        ([THEIRS], {"growth.dev/scale-down-at": "soon"}, {"taints": [THEIRS]}),
    ],
)
def test_a_node_keeps_what_is_not_ours(
    taints: list[dict[str, str]], annotations: dict[str, str], patch: dict[str, Any] | None
) -> None:
    metadata = {"name": "a", "resourceVersion": "1", "annotations": annotations}

    changed = released({"metadata": metadata, "spec": {"taints": taints}})

    assert (changed and changed["spec"]) == patch


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("growth-pause", True),
        ("growth-scheduler-configuration-b67eed59c6", True),
        ("growth-scheduler-configuration-mt5f2k9ghb", True),
        ("growth-pause-calendar", False),
        ("growth-scheduler-configuration-of-the-team", False),
        ("the-growth-pause", False),
    ],
)
def test_a_config_map_whose_name_only_begins_like_ours_stays(name: str, *, ours: bool) -> None:
    assert is_our_config_map(name) == ours


def test_a_namespace_that_is_terminating_is_not_deleted_again() -> None:
    server = Api()
    labels = {"app.kubernetes.io/name": "growth"}
    leaving = {"name": SYSTEM, "labels": labels, "deletionTimestamp": "2026-01-01T00:00:00Z"}
    server.put(f"/api/v1/namespaces/{SYSTEM}", {"metadata": leaving})
    assert not asyncio.run(remove_namespace(cast("Any", server), SYSTEM))


def test_what_becomes_of_machines_has_to_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["uninstall"])

    assert ended.value.code == 2
    assert "--machines" in capsys.readouterr().err


@pytest.mark.cluster
class TestOnARealServer:
    @pytest.fixture
    def used(self, emptied: LiveCluster) -> LiveCluster:
        """Installed, with a pool, a machine on its way and one that is idle."""
        assert grow(emptied, "install", "--for", "kwok", "--wait", "0s") == 0
        emptied.kubectl("apply", "-f", str(EXAMPLE))
        for item in (REQUEST, NODE, TOKEN):
            emptied.kubectl("apply", "-f", "-", input=json.dumps(item))
        return emptied

    @pytest.mark.parametrize(
        "loss",
        [
            each if each == HARDEST else pytest.param(each, marks=pytest.mark.long)
            for each in LOSSES
        ],
    )
    def test_whatever_was_lost_nothing_is_left_but_the_nodes(
        self, used: LiveCluster, loss: str
    ) -> None:
        for words in LOSSES[loss]:
            used.kubectl(*words)

        assert grow(used, "uninstall", "--machines", "keep") == 0

        node = used.get("node", "default-1")
        assert [taint["key"] for taint in node["spec"]["taints"] if "growth" in taint["key"]] == []
        assert THEIRS in node["spec"]["taints"]
        assert left(used) == []
        self.garbage_is_collected(used)

    def garbage_is_collected(self, cluster: LiveCluster) -> None:
        """A kind whose objects can't be listed would stop that in the whole cluster."""
        cluster.kubectl("create", "namespace", "passing")
        cluster.kubectl("delete", "namespace", "passing", "--timeout=180s")

    @pytest.mark.long
    def test_again_it_finds_nothing_and_is_content(
        self, used: LiveCluster, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert grow(used, "uninstall", "--machines", "keep") == 0
        capsys.readouterr()

        assert grow(used, "uninstall", "--machines", "keep") == 0

        numbers = [line.split()[-1] for line in capsys.readouterr().out.splitlines()[:-1]]
        assert set(numbers) == {"0"}

    @pytest.mark.long
    @pytest.mark.parametrize("machines", ["drain", "destroy"])
    def test_machines_are_not_given_back_where_nobody_can(
        self, used: LiveCluster, capsys: pytest.CaptureFixture[str], machines: str
    ) -> None:
        assert grow(used, "uninstall", "--machines", machines) == 1

        assert "no reconciler leads, so machines can't be removed" in capsys.readouterr().err
        assert used.get("nodepools")["items"]


@pytest.mark.cluster
@pytest.mark.long
@pytest.mark.parametrize("machines", ["drain", "destroy"])
def test_machines_are_given_back_before_growth_goes(
    emptied: LiveCluster, tmp_path: Path, machines: str
) -> None:
    assert grow(emptied, "install", "--for", "kwok", "--wait", "0s") == 0
    emptied.kubectl("apply", "-f", str(EXAMPLE))
    pool = pool_of("cx23")
    emptied.create({**pool, "spec": {**pool["spec"], "scaleDown": {"idleAfter": "1s"}}})
    settings = {"GROWTH_LEASE_NAMESPACE": SYSTEM, "GROWTH_BIND_WAIT": "8s"}
    try:
        with reconciling(emptied, tmp_path / "log", **settings):
            emptied.create(deployment("work", pool="cx23", replicas=2, cpu="1", memory="1Gi"))
            wait_until(lambda: bound(emptied) == 2, "the pods are bound")

            # The reconciler beside the cluster leads on until it is ended here, below.
            assert grow(emptied, "uninstall", "--machines", machines, "--wait", "2m") == 1

        assert emptied.get("nodes", "--selector=growth.dev/managed-by=growth")["items"] == []
        assert grow(emptied, "uninstall", "--machines", machines) == 0
        assert left(emptied) == []
    finally:
        emptied.kubectl("delete", "deployment", "work", "--ignore-not-found")


def bound(cluster: LiveCluster) -> int:
    pods = cluster.get("pods", "--selector=app=work")["items"]
    return sum("nodeName" in pod["spec"] for pod in pods)


def left(cluster: LiveCluster) -> list[str]:
    """What is still there of growth, its namespace apart, which takes a moment to end."""
    kinds = (
        *("crd", "clusterrole", "clusterrolebinding", "priorityclass"),
        *("flowschema", "prioritylevelconfiguration"),
        *("mutatingwebhookconfiguration", "validatingadmissionpolicy"),
        *("validatingadmissionpolicybinding", "mutatingadmissionpolicy"),
    )
    found = cluster.kubectl("get", ",".join(kinds), "--output=name").split()
    in_system = ("get", "role,rolebinding,secret", "--namespace", "kube-system", "--output=name")
    within = cluster.kubectl(*in_system).split()
    return [each for each in [*found, *within] if "growth" in each or "abcdef" in each]
