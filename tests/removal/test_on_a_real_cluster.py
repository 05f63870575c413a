"""Idle nodes go, and come back into use, on a real control plane."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import wait_until
from tests.thread.growing import (
    FORGOTTEN,
    deployment,
    pool_of,
    reconciling,
    wait_until_bound,
    wait_until_empty,
    wait_until_open,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster


def pool(name: str, *, idle_after: str) -> dict[str, Any]:
    made = {**pool_of("cx23"), "metadata": {"name": name}}
    made["spec"] = made["spec"] | FORGOTTEN | {"scaleDown": {"idleAfter": idle_after}}
    return made


def nodes(cluster: LiveCluster, of_pool: str) -> list[Any]:
    found: list[Any] = cluster.get("nodes", "--selector", f"growth.dev/pool={of_pool}")["items"]
    return found


def taints(cluster: LiveCluster, of_pool: str) -> set[str]:
    """Growth's own. The node controller sets others, on a busy machine also without a fault."""
    found = (
        taint["key"] for node in nodes(cluster, of_pool) for taint in node["spec"].get("taints", ())
    )
    return {key for key in found if key.startswith("growth.dev/")}


def test_an_idle_node_is_marked_and_given_back(growing: LiveCluster, tmp_path: Path) -> None:
    growing.kubectl("create", "namespace", "goes")
    growing.create(pool("goes", idle_after="2s"))
    with reconciling(growing, tmp_path / "log"):
        pods = deployment("web", pool="goes", replicas=3, cpu="1500m", memory="1Gi")
        growing.create(pods, namespace="goes")
        wait_until_bound(growing, "goes", count=3)
        assert len(nodes(growing, "goes")) == 3
        growing.kubectl("scale", "deployment", "web", "--replicas=1", "--namespace", "goes")
        gone = lambda: not growing.kubectl("get", "pods", "-n", "goes", "-o", "name").split()[1:]  # noqa: E731 - said once
        wait_until(gone, "two pods are gone")
        since = time.monotonic()
        wait_until(lambda: len(nodes(growing, "goes")) == 1, "two nodes are gone")
        took = time.monotonic() - since
        sys.stdout.write(f"from the last pod's end to the machine's: {took:.1f} s, idleAfter 2 s\n")
        wait_until(
            lambda: not growing.get("noderemovalrequests")["items"],
            "the removals end",
        )
    assert taints(growing, "goes") == set()
    wait_until_bound(growing, "goes", count=1)


def test_new_pods_have_a_marked_node_back_before_anything_is_bought(
    growing: LiveCluster, tmp_path: Path
) -> None:
    growing.kubectl("create", "namespace", "stays")
    growing.create(pool("stays", idle_after="1h"))
    with reconciling(growing, tmp_path / "log"):
        pods = deployment("web", pool="stays", replicas=1, cpu="1500m", memory="1Gi")
        growing.create(pods, namespace="stays")
        wait_until_bound(growing, "stays", count=1)
        wait_until_open(growing)
        (before,) = nodes(growing, "stays")
        growing.kubectl("delete", "deployment", "web", "--namespace", "stays")
        marked = lambda: "growth.dev/scale-down" in taints(growing, "stays")  # noqa: E731 - said once
        wait_until(marked, "the node is marked")
        wait_until_empty(growing, "stays")
        again = deployment("again", pool="stays", replicas=1, cpu="1500m", memory="1Gi")
        growing.create(again, namespace="stays")
        wait_until_bound(growing, "stays", count=1)
    (after,) = nodes(growing, "stays")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert "growth.dev/scale-down-at" not in after["metadata"]["annotations"]
    assert taints(growing, "stays") == set()
