"""Pods that must be near others are planned with them, and kube-scheduler binds all of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import wait_until
from tests.thread.growing import (
    EXAMPLE,
    cluster_for,
    deployment,
    machines,
    pool_of,
    reconciling,
    unschedulable,
    wait_until_bound,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

NAMESPACE = "near"
HOST = "kubernetes.io/hostname"


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    with cluster_for("near") as cluster:
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        cluster.kubectl("create", "namespace", NAMESPACE)
        cluster.create(*(pool_of(server_type) for server_type in ("cx23", "cx33", "cax31")))
        yield cluster


def bound_to(
    workload: dict[str, Any], *, near: str = "", apart: str = "", key: str = HOST
) -> dict[str, Any]:
    """A workload whose pods must be near those of another, and apart from those of a third."""
    affinity = {
        kind: {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
            ]
        }
        for kind, app in (("podAffinity", near), ("podAntiAffinity", apart))
        if app
    }
    workload["spec"]["template"]["spec"]["affinity"] = affinity
    return workload


def of_small(name: str, replicas: int, cpu: str) -> dict[str, Any]:
    return deployment(name, pool="cx23", replicas=replicas, cpu=cpu)


def of_middle(name: str, cpu: str) -> dict[str, Any]:
    return deployment(name, pool="cx33", replicas=1, cpu=cpu)


def of_large(name: str, replicas: int) -> dict[str, Any]:
    return deployment(name, pool="cax31", replicas=replicas, cpu="1500m")


# On its machine the anchor leaves room for its follower and for one more.
SHARED = (of_middle("anchor", "500m"), bound_to(of_middle("follower", "1"), near="anchor"))
MORE = of_middle("other", "1")
# Each cache fills its machine with one web pod, and each job fills one alone.
PAIRS = (
    bound_to(of_small("cache", 2, "1"), apart="cache"),
    bound_to(of_small("web", 2, "900m"), near="cache", apart="web"),
    of_small("job", 3, "1900m"),
)
# A chain, whose last part is near itself.
CHAIN = (
    bound_to(of_large("first", 1), near="second"),
    bound_to(of_large("second", 1), near="third"),
    bound_to(of_large("third", 2), near="third"),
)
EXPECTED = {"cx33": 1, "cx23": 5, "cax31": 1}
PODS = 3 + 7 + 4


def test_followers_and_anchors_are_bound_to_what_was_bought_for_them(
    growing: LiveCluster, tmp_path: Path
) -> None:
    growing.create(*SHARED, MORE, *PAIRS, *CHAIN, namespace=NAMESPACE)
    wait_until(
        lambda: unschedulable(growing, NAMESPACE) == PODS, "the scheduler has given up on all pods"
    )
    with reconciling(growing, tmp_path / "log"):
        wait_until_bound(growing, NAMESPACE, count=PODS)
        wait_until(lambda: phases(growing) == {"Ready"}, "all requests are Ready")
    assert Counter(machines(growing).values()) == EXPECTED
    requests = growing.get("noderequests")["items"]
    assert Counter(each["spec"]["pool"] for each in requests) == EXPECTED


def phases(cluster: LiveCluster) -> set[str]:
    found = cluster.get("noderequests")["items"]
    return {each["status"]["phase"] for each in found}
