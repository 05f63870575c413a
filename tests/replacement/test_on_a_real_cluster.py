"""A node that is too large makes way for a smaller one, on a real control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.live import wait_until
from tests.thread.growing import (
    deployment,
    machines,
    pool_of,
    reconciling,
    unschedulable,
    wait_until_bound,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

SOON = {"GROWTH_BIND_WAIT": "8s", "GROWTH_QUIET": "2s"}


def pool(name: str) -> dict[str, Any]:
    made = {**pool_of("cx23"), "metadata": {"name": name}}
    types = [{"name": "cx23", "max": 10}, {"name": "cx33", "max": 10}]
    made["spec"] |= {"serverTypes": types, "disruption": {"budgets": [{"nodes": "100%"}]}}
    return made


def told(cluster: LiveCluster) -> dict[str, str]:
    """What was said about consolidation, by the name of the node."""
    events = cluster.get("events", "--namespace", "default")["items"]
    return {
        each["involvedObject"]["name"]: each["message"]
        for each in events
        if each["reason"] == "Consolidating"
    }


def test_a_smaller_node_serves_before_the_larger_one_is_drained_and_goes(
    growing: LiveCluster, tmp_path: Path
) -> None:
    growing.kubectl("create", "namespace", "less")
    growing.create(pool("less"))
    pods = deployment("web", pool="less", replicas=2, cpu="1500m", memory="1Gi")
    growing.create(pods, namespace="less")
    # Both are planned together, and get one node.
    wait_until(lambda: unschedulable(growing, "less") == 2, "the scheduler has given up on both")
    with reconciling(growing, tmp_path / "log", **SOON):
        wait_until_bound(growing, "less", count=2)
        (large,) = machines(growing)
        growing.kubectl("scale", "deployment", "web", "--replicas=1", "--namespace", "less")
        smaller = lambda: list(machines(growing).values()) == ["cx23"]  # noqa: E731 - said once
        wait_until(smaller, "the smaller node is left")
        wait_until_bound(growing, "less", count=1)
        assert "replaces 1 x cx33 with 1 x cx23" in told(growing)[large]
    (pod,) = growing.get("pods", "--namespace", "less")["items"]
    assert pod["spec"]["nodeName"] in machines(growing)
