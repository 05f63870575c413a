"""From a pending pod to a bound one, on a real control plane."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from growth.cli.__main__ import main
from tests.live import wait_until
from tests.thread.growing import (
    EXAMPLE,
    cluster_for,
    deployment,
    machines,
    pool_of,
    reconciling,
    wait_until_bound,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """A cluster of its own: what growth buys would serve the pods of other tests too."""
    with cluster_for("thread") as cluster:
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        yield cluster


def test_thirty_pods_of_three_shapes_get_their_nodes(growing: LiveCluster, tmp_path: Path) -> None:
    namespace = "thirty"
    growing.kubectl("create", "namespace", namespace)
    growing.create(*(pool_of(server_type) for server_type in ("cx23", "cx33", "cax31")))
    with reconciling(growing, tmp_path / "log"):
        growing.create(
            deployment("small", pool="cx23", replicas=10, cpu="1500m", memory="1Gi"),
            deployment("middle", pool="cx33", replicas=10, cpu="3", memory="6Gi"),
            deployment("large", pool="cax31", replicas=10, cpu="6", memory="12Gi"),
            namespace=namespace,
        )
        wait_until_bound(growing, namespace, count=30)
        wait_until(lambda: all_ready(growing), "all requests are Ready")
    assert Counter(machines(growing).values()) == {"cx23": 10, "cx33": 10, "cax31": 10}
    assert set(machines(growing)) == set(requests(growing))


def test_a_paused_pool_buys_nothing_until_it_resumes(growing: LiveCluster, tmp_path: Path) -> None:
    namespace, chosen = "paused", ("--kubeconfig", str(growing.kubeconfig))
    growing.kubectl("create", "namespace", namespace)
    growing.create(
        *({**pool_of("cx23"), "metadata": {"name": name}} for name in ("rests", "works"))
    )
    assert main(["pause", "rests", "--reason", "a test", *chosen]) == 0
    with reconciling(growing, tmp_path / "log"):
        paused = "jsonpath={.status.conditions[?(@.type=='Paused')].status}"
        read = ("get", "nodepool", "rests", "--output", paused)
        wait_until(lambda: growing.kubectl(*read) == "True", "the pool says that it is paused")
        for pool in ("rests", "works"):
            growing.create(
                deployment(pool, pool=pool, replicas=1, cpu="1", memory="1Gi"), namespace=namespace
            )
            waiting = ("wait", "pod", "--selector", f"app={pool}", "--namespace", namespace)
            growing.kubectl(*waiting, "--for=create", "--timeout=180s")
            if pool == "rests":
                unscheduled = "--for=condition=PodScheduled=False"
                growing.kubectl(*waiting, unscheduled, "--timeout=180s")
        # Who came later is served: by now the other one would be, too.
        wait_until_bound(growing, namespace, count=1)
        assert pools_bought_for(growing, "rests", "works") == {"works"}
        assert main(["resume", "rests", *chosen]) == 0
        wait_until_bound(growing, namespace, count=2)
        wait_until(lambda: growing.kubectl(*read) == "False", "the pool says that it resumed")


def pools_bought_for(cluster: LiveCluster, *pools: str) -> set[str]:
    found = cluster.get("noderequests")["items"]
    return {each["spec"]["pool"] for each in found} & set(pools)


def requests(cluster: LiveCluster) -> dict[str, str]:
    found = cluster.get("noderequests")["items"]
    return {each["metadata"]["name"]: each["status"]["phase"] for each in found}


def all_ready(cluster: LiveCluster) -> bool:
    return set(requests(cluster).values()) == {"Ready"}
