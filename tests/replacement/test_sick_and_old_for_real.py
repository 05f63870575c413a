"""Sick nodes and old ones are replaced on a real control plane, and many sick ones aren't."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import wait_until
from tests.thread.growing import (
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

pytestmark = [pytest.mark.cluster, pytest.mark.long]

SOON = {"GROWTH_BIND_WAIT": "8s", "GROWTH_REPAIR_AFTER": "3s"}


@pytest.fixture
def three(growing: LiveCluster, tmp_path: Path) -> Iterator[LiveCluster]:
    """Three nodes with a pod each, and growth at work."""
    disruption = {"budgets": [{"nodes": 1}], "consolidation": "Never"}
    made = pool_of("cx23")
    made["spec"] |= {"disruption": disruption}
    growing.create(made)
    with reconciling(growing, tmp_path / "log", **SOON):
        growing.create(deployment("web", pool="cx23", replicas=3, cpu="1500m", memory="1Gi"))
        wait_until_bound(growing, "default", count=3)
        wait_until(lambda: len(machines(growing)) == 3, "three nodes are left")
        yield growing
        growing.kubectl("delete", "deployment", "web")
        growing.kubectl("delete", "nodepool", "cx23", "--timeout=60s")
        wait_until(lambda: not machines(growing), "all nodes are gone")


def fall_ill(cluster: LiveCluster, name: str) -> None:
    ready = {"type": "Ready", "status": "False", "reason": "Broken", "message": "it is broken"}
    patch = json.dumps({"status": {"conditions": [ready]}})
    cluster.kubectl("annotate", "node", name, "growth.dev/kwok-never-ready=true")
    cluster.kubectl("patch", "node", name, "--subresource=status", "--patch", patch)


def recover(cluster: LiveCluster, name: str) -> None:
    cluster.kubectl("annotate", "node", name, "growth.dev/kwok-never-ready-")


def said(cluster: LiveCluster) -> dict[str, str]:
    conditions = cluster.get("nodepool", "cx23")["status"]["conditions"]
    return {each["type"]: each["status"] for each in conditions}


def labels(cluster: LiveCluster, key: str) -> list[Any]:
    nodes = cluster.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]
    return [node["metadata"]["labels"].get(key) for node in nodes]


def test_labels_of_a_pool_reach_its_nodes_and_a_new_class_makes_new_ones(
    three: LiveCluster,
) -> None:
    before = set(machines(three))
    three.kubectl(
        "patch", "nodepool", "cx23", "--type=merge", "-p", '{"spec":{"labels":{"a":"b"}}}'
    )
    wait_until(lambda: labels(three, "a") == ["b"] * 3, "the labels are there")
    assert set(machines(three)) == before

    change = '[{"op":"add","path":"/spec/types/0/labels","value":{"disk":"fast"}}]'
    three.kubectl("patch", "kwoknodeclass", "default", "--type=json", "-p", change)
    wait_until(lambda: labels(three, "disk") == ["fast"] * 3, "all nodes are new")
    assert not set(machines(three)) & before
    wait_until_bound(three, "default", count=3)


def test_a_sick_node_is_replaced(three: LiveCluster) -> None:
    sick, *others = machines(three)
    fall_ill(three, sick)
    wait_until(lambda: sick not in machines(three), "the sick node is gone")
    wait_until_bound(three, "default", count=3)
    assert set(others) <= set(machines(three))


def test_two_sick_nodes_of_three_are_left_alone_and_told(three: LiveCluster) -> None:
    before = set(machines(three))
    for name in sorted(before)[:2]:
        fall_ill(three, name)
    wait_until(lambda: said(three).get("ManySick") == "True", "it is told")
    # Longer than a node has to be sick.
    time.sleep(6)
    assert not three.get("noderemovalrequests")["items"]
    for name in sorted(before)[:2]:
        recover(three, name)
    wait_until(lambda: said(three)["ManySick"] == "False", "it is over")
    assert set(machines(three)) == before
