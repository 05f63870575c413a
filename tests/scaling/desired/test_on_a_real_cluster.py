"""A person sets the number with kubectl scale, on a real control plane."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import wait_until
from tests.thread.growing import SMALL_CLASS, cluster_for, pool_of, reconciling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.long]

POOL = "small"


@pytest.fixture(scope="module")
def scaled() -> Iterator[LiveCluster]:
    with cluster_for("scaled") as cluster:
        pool = pool_of(POOL)
        pool["spec"]["scaling"] = {"policy": "Desired", "desired": {"maxNodes": 4}}
        cluster.create(SMALL_CLASS, pool)
        yield cluster


def shown(cluster: LiveCluster, path: str = "") -> dict[str, Any]:
    url = f"/apis/growth.dev/v1alpha1/nodepools/{POOL}{path}"
    return dict(json.loads(cluster.kubectl("get", "--raw", url)))


def test_kubectl_scale_sets_the_number_and_the_scale_shows_the_nodes(
    scaled: LiveCluster, tmp_path: Path
) -> None:
    assert shown(scaled, "/scale")["spec"] == {}
    with reconciling(scaled, tmp_path / "log"):
        scaled.kubectl("scale", "nodepool", POOL, "--replicas", "2")
        wait_until(lambda: shown(scaled)["status"].get("ready") == 2, "two nodes serve")
        scale = shown(scaled, "/scale")
        assert scale["spec"]["replicas"] == 2
        assert scale["status"] == {"replicas": 2, "selector": f"growth.dev/pool={POOL}"}

        scaled.kubectl("scale", "nodepool", POOL, "--replicas", "1")
        wait_until(lambda: holds(scaled) >= {"Cooldown", "Metrics"}, "what holds it")
        (measured,) = (each for each in told(scaled) if each["reason"] == "Metrics")
        assert "install metrics-server" in measured["message"]
        assert shown(scaled)["status"]["nodes"] == 2


def told(cluster: LiveCluster) -> list[dict[str, Any]]:
    return list(shown(cluster)["status"].get("scaling", {}).get("holds", ()))


def holds(cluster: LiveCluster) -> set[str]:
    return {each["reason"] for each in told(cluster)}
