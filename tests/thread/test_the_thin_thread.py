"""From a pending pod to a bound one, on a real control plane."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.live import bring_down, bring_up, wait_until
from tests.thread.growing import (
    EXAMPLE,
    deployment,
    install,
    machines,
    pool_of,
    reconciling,
    wait_until_bound,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """A cluster of its own: what growth buys would serve the pods of other tests too."""
    name = f"growth-test-{os.getpid()}-thread"
    try:
        cluster = bring_up(name)
        install(cluster)
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        yield cluster
    finally:
        bring_down(name)


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


def requests(cluster: LiveCluster) -> dict[str, str]:
    found = cluster.get("noderequests")["items"]
    return {each["metadata"]["name"]: each["status"]["phase"] for each in found}


def all_ready(cluster: LiveCluster) -> bool:
    return set(requests(cluster).values()) == {"Ready"}
