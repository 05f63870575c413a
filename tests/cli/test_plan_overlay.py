"""Files on top of a cluster: which of its objects stay, and what is planned anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from growth.api.nodepool import NodePool
from growth.cli.plan.overlay import overlaid, owners_in, with_files_applied
from growth.scheduling.daemonsets import DaemonSet
from growth.scheduling.expansion import expanded
from growth.scheduling.pod import Pod
from tests.reconciler.build import pool
from tests.scheduling import build

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.cluster import Object

HASH = "5d9f"


def running(name: str, *, cpu: str = "1", node: str = "node-1", **metadata: Any) -> Pod:
    """A pod of the Deployment web, as the cluster has it."""
    owner = {"kind": "ReplicaSet", "name": f"web-{HASH}", "uid": "rs", "controller": True}
    return build.pod(
        name,
        nodeName=node,
        requests={"cpu": cpu},
        metadata={
            "namespace": "shop",
            "labels": {"pod-template-hash": HASH},
            "ownerReferences": [owner],
        }
        | metadata,
    )


def workload(kind: str = "Deployment", *, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    template = {"spec": {"containers": [container]}}
    return {
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": template} | spec,
    }


def names(live: Iterable[Object], *documents: dict[str, Any]) -> list[str]:
    """What is in the cluster afterwards, by kind and name."""
    written = [each for document in documents for each in expanded(document)]
    found = overlaid(live, written, owners_in(documents))
    return sorted(f"{type(each).__name__} {each.metadata.name}" for each in found)


@pytest.mark.parametrize(
    ("live", "document", "left"),
    [
        # Two run as the file says; two more are wanted.
        (
            [running("a"), running("b")],
            workload(replicas=4),
            ["Pod a", "Pod b", "Pod web-0", "Pod web-1"],
        ),
        # One is enough, and nobody is needed.
        ([running("a"), running("b")], workload(replicas=1), ["Pod a"]),
        ([running("a"), running("b")], workload(replicas=0), []),
        # Others than run.
        ([running("a"), running("b")], workload(replicas=1, cpu="2"), ["Pod web-0"]),
        # One that waits is made anew, one that goes holds its room until it has gone.
        ([running("a", node="")], workload(replicas=1), ["Pod web-0"]),
        (
            [running("a", deletionTimestamp="2026-01-01T00:00:00Z")],
            workload(replicas=1),
            ["Pod a", "Pod web-0"],
        ),
        # Another kind of the same name, another namespace, and no owner at all.
        ([running("a")], workload("StatefulSet", replicas=1), ["Pod a", "Pod web-0"]),
        ([running("a", namespace="other")], workload(replicas=1), ["Pod a", "Pod web-0"]),
        ([build.pod("web-0", nodeName="node-1")], workload(replicas=0), ["Pod web-0"]),
    ],
)
def test_a_workload_s_pods_are_counted_once(
    live: list[Pod], document: dict[str, Any], left: list[str]
) -> None:
    assert names(live, document) == left


def test_of_a_stateful_set_those_are_planned_that_are_not_there() -> None:
    owner = {"kind": "StatefulSet", "name": "web", "uid": "set", "controller": True}
    first = running("web-0", ownerReferences=[owner])
    document = workload("StatefulSet", replicas=2)
    assert names([first], document) == ["Pod web-0", "Pod web-1"]
    found = overlaid([first], expanded(document), owners_in([document]))
    new = [each for each in found if isinstance(each, Pod) and not each.spec.node_name]
    assert [each.metadata.name for each in new] == ["web-1"]


def test_the_pods_of_a_daemon_set_in_a_file_are_planned_as_it_says() -> None:
    owner = {"kind": "DaemonSet", "name": "web", "uid": "ds", "controller": True}
    agent = build.pod("agent", nodeName="node-1", metadata={"ownerReferences": [owner]})
    old = DaemonSet(metadata=build.pod("web").metadata)
    assert names([agent, old], workload("DaemonSet")) == ["DaemonSet web"]


def test_an_object_in_a_file_takes_the_place_of_its_namesake() -> None:
    node = {"kind": "Node", "metadata": {"name": "node-1", "labels": {"new": "yes"}}}
    (left,) = overlaid([build.node("node-1")], expanded(node), frozenset())
    assert left.metadata.labels == {"new": "yes"}


def test_what_growth_has_learnt_of_a_pool_is_kept() -> None:
    learnt = {"learntAllocatable": [{"serverType": "small", "resources": {"cpu": "1900m"}}]}
    live = pool().model_copy(
        update={"status": type(pool().status).model_validate(learnt)},
    )
    written = pool(serverTypes=[{"name": "small", "max": 1}])
    (left,) = with_files_applied([live], [written])
    assert isinstance(left, NodePool)
    assert left.spec == written.spec
    assert left.status == live.status
