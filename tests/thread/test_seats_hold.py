"""A pod that only one machine can hold gets it, though many smaller pods wait for room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from growth.api.wellknown import GROUP_VERSION, POOL_LABEL
from growth.cli.scheduler_config.configuration import Reach
from tests.extender.live import asking, extending
from tests.live import wait_until
from tests.thread.growing import EXAMPLE, cluster_for, deployment, reconciling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

NAMESPACE = "seats"
often = pytest.mark.parametrize("rounds", [3, pytest.param(10, marks=pytest.mark.long)])
SMALL = 18
"""Pods of half a CPU: together with the large one they fill two machines of 8 CPUs, and the limit
leaves no room for a third one."""


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    with cluster_for("seats") as cluster:
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        cluster.kubectl("create", "namespace", NAMESPACE)
        yield cluster


def pool(name: str) -> dict[str, Any]:
    types = [{"name": each, "max": 10} for each in ("cx23", "cx33", "cax31")]
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"serverTypes": types, "limits": {"cpu": "20"}},
    }


def huge(pool: str) -> dict[str, Any]:
    """A pod that only fits on the largest type, beside two small ones."""
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "7"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"huge-{pool}"},
        "spec": {"containers": [container], "nodeSelector": {POOL_LABEL: pool}},
    }


@often
def test_a_large_pod_gets_its_machine_each_time(
    growing: LiveCluster, tmp_path: Path, rounds: int
) -> None:
    with reconciling(growing, tmp_path / "log"):
        for number in range(rounds):
            all_are_bound(growing, f"alone{rounds}-{number}", "default-scheduler", tmp_path / "log")


@often
def test_it_does_so_where_the_extender_ranks_nodes(
    growing: LiveCluster, tmp_path: Path, rounds: int
) -> None:
    with (
        extending(growing, tmp_path / "extender") as extender,
        asking(growing, Reach(url=f"http://{extender.verbs}")) as scheduler,
        reconciling(growing, tmp_path / "log", GROWTH_DEMAND_URL=f"http://{extender.demand}"),
    ):
        for number in range(rounds):
            name = f"ranked{rounds}-{number}"
            all_are_bound(growing, name, scheduler.name, tmp_path / "log")


def all_are_bound(cluster: LiveCluster, name: str, scheduler: str, log: Path) -> None:
    """A pool of its own, the pods for it, and the wait until each of them has a node."""
    small = deployment(f"small-{name}", pool=name, replicas=SMALL, cpu="500m")
    large = huge(name)
    for spec in (small["spec"]["template"]["spec"], large["spec"]):
        spec["schedulerName"] = scheduler
    cluster.create(pool(name), namespace=NAMESPACE)
    cluster.create(small, large, namespace=NAMESPACE)
    try:
        wait_until(lambda: bound(cluster, name) == SMALL + 1, f"all pods of {name} are bound")
    except AssertionError as late:
        late.add_note("\n".join(told(cluster, name)))
        late.add_note(
            "\n".join(line for line in log.read_text("utf-8").splitlines() if name in line)
        )
        raise


def bound(cluster: LiveCluster, name: str) -> int:
    """How many pods are on machines of a pool."""
    pods = cluster.get("pods", "--namespace", NAMESPACE)["items"]
    return sum(pod["spec"].get("nodeName", "").startswith(f"{name}-") for pod in pods)


def told(cluster: LiveCluster, name: str) -> Iterator[str]:
    """Where each pod is, or why it isn't anywhere."""
    for pod in cluster.get("pods", "--namespace", NAMESPACE)["items"]:
        if name in pod["metadata"]["name"]:
            said = [each.get("message") for each in pod["status"].get("conditions", ())]
            seat = pod["status"].get("nominatedNodeName")
            yield f"{pod['metadata']['name']}: {pod['spec'].get('nodeName')} {seat} {said}"
