"""On a real control plane, growth tells of a purchase and neither buys nor writes anything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from growth.cli.__main__ import main
from tests.live import wait_until
from tests.thread.growing import SMALL_CLASS, cluster_for, deployment, pool_of, reconciling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

OBSERVES = {"GROWTH_MODE": "Observe"}
OURS = ("noderequests", "noderecords", "noderemovalrequests")


@pytest.fixture(scope="module")
def observed() -> Iterator[LiveCluster]:
    with cluster_for("observed") as cluster:
        cluster.create(SMALL_CLASS, pool_of("small"))
        yield cluster


def listed(cluster: LiveCluster, kind: str) -> list[dict[str, Any]]:
    return list(json.loads(cluster.kubectl("get", kind, "--output", "json"))["items"])


def status(cluster: LiveCluster) -> dict[str, Any]:
    (pool,) = listed(cluster, "nodepools")
    return dict(pool.get("status", {}).get("observed", {}))


def test_the_report_tells_of_a_purchase_and_nothing_is_bought_or_written(
    observed: LiveCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {node["metadata"]["name"] for node in listed(observed, "nodes")}
    with reconciling(observed, tmp_path / "log", **OBSERVES):
        wait_until(lambda: status(observed), "the pool is observed")
        # Its status is written when growth would buy, and else once a minute.
        add_a_node(observed)
        observed.create(deployment("web", pool="small", replicas=1, cpu="1500m", memory="1Gi"))
        wait_until(lambda: status(observed).get("machines"), "a purchase is told of")
        wait_until(lambda: joined(observed) == 1, "the node of others is told of")
        assert not [each for kind in OURS for each in listed(observed, kind)]
        names = {node["metadata"]["name"] for node in listed(observed, "nodes")}
        assert names == {*before, "its"}
        (node,) = (each for each in listed(observed, "nodes") if each["metadata"]["name"] == "its")
        words = json.dumps([node["metadata"]["labels"], node["spec"].get("taints")])
        assert "growth.dev" not in words
        assert not [kind for kind in OURS if listed(observed, kind)]
    told = report(observed, capsys)
    assert (told["pool"], told["growth"]["came"], told["machines"]) == ("small", 1, 1)
    assert told["others"]["came"] == 1


def add_a_node(cluster: LiveCluster) -> None:
    """What another autoscaler would do, on whose node no pod of the test fits."""
    metadata = {"name": "its", "labels": {"node.kubernetes.io/instance-type": "small"}}
    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata})


def joined(cluster: LiveCluster) -> int:
    return sum(hour.get("joined", 0) for hour in status(cluster).get("hours", ()))


def report(cluster: LiveCluster, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["observe", "report", "--kubeconfig", str(cluster.kubeconfig), "-o", "json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["pools"]
    return dict(told)
