"""A foreign Node that lies on a real control plane: machines, pods and the Node itself stay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.noderecord import CONTESTED
from growth.api.wellknown import POOL_LABEL, REPLACES_ANNOTATION
from tests.live import wait_until
from tests.thread.growing import (
    FORGOTTEN,
    SMALL_CLASS,
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
def hostile() -> Iterator[LiveCluster]:
    with cluster_for("hostile") as cluster:
        made = pool_of("small")
        made["spec"] |= {
            **FORGOTTEN,
            "scaleDown": {"idleAfter": "2s"},
            "disruption": {"consolidation": "Never", "budgets": [{"nodes": 0}]},
        }
        cluster.create(SMALL_CLASS, made)
        yield cluster


def liar(victims: list[str]) -> dict[str, Any]:
    """It claims a pool, a machine's ID, a price that no number holds, and to replace machines."""
    words = {"nodes": victims, "of": 1, "reason": "Unhealthy"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "foreign",
            "labels": {
                POOL_LABEL: "small",
                "growth.dev/instance-type": "small",
                "growth.dev/node-request": victims[0],
            },
            "annotations": {
                REPLACES_ANNOTATION: json.dumps(words),
                "growth.dev/price": "1e999999",
                "growth.dev/bought-at": "0001-01-01T00:00:00+14:00",
                "growth.dev/scale-down-at": "2020-01-01T00:00:00Z",
                "growth.dev/cordoned": "Drift",
                "growth.dev/template": '{"form":1}',
            },
        },
        "spec": {
            "providerID": f"kwok://{victims[0]}",
            "unschedulable": True,
            "taints": [{"key": "growth.dev/scale-down", "value": "1", "effect": "NoSchedule"}],
        },
    }


def said(cluster: LiveCluster) -> tuple[Any, ...]:
    node = cluster.get("node", "foreign")
    metadata = node["metadata"]
    taints = {taint["key"]: taint for taint in node["spec"]["taints"]}
    unschedulable = node["spec"]["unschedulable"]
    return (*map(ours, (metadata["labels"], metadata["annotations"], taints)), unschedulable)


def ours(found: dict[str, Any]) -> dict[str, Any]:
    """Controllers of nodes set words and taints of their own on a new node, when they please."""
    return {key: value for key, value in found.items() if key.startswith("growth.dev/")}


def test_a_foreign_node_that_lies_changes_nothing_and_the_next_pod_gets_its_machine(
    hostile: LiveCluster, tmp_path: Path
) -> None:
    hostile.kubectl("create", "namespace", "kept")
    hostile.kubectl("create", "namespace", "more")
    with reconciling(hostile, tmp_path / "log"):
        pods = deployment("web", pool="small", replicas=2, cpu="1500m", memory="1Gi")
        hostile.create(pods, namespace="kept")
        wait_until_bound(hostile, "kept", count=2)
        victims = sorted(machines(hostile))
        before = pods_of(hostile)
        hostile.create(liar(victims))
        lies = said(hostile)
        wait_until(lambda: contested(hostile) == victims[:1], "the claim is told of")
        wait_until(lambda: "Contested" in reasons(hostile), "and in an event")
        hostile.create(
            deployment("more", pool="small", replicas=1, cpu="1500m", memory="1Gi"),
            namespace="more",
        )
        wait_until_bound(hostile, "more", count=1)
        hostile.kubectl("delete", "deployment", "more", "--namespace", "more")
        # Growth gives machines back all the while, only not these.
        wait_until(lambda: sorted(machines(hostile)) == victims, "the idle one is gone")
        wait_until(lambda: records(hostile) == victims, "each machine has one record")
        assert said(hostile) == lies
        key = "growth.dev/instance-type"
        hostile.kubectl("label", "node", victims[0], f"{key}=another", "--overwrite")
        wait_until(lambda: label(hostile, victims[0], key) == "small", "written back")
        wait_until(lambda: "NodeWrittenBack" in reasons(hostile), "and in an event")
        hostile.kubectl("delete", "node", "foreign")
        wait_until(lambda: not contested(hostile), "the claim is over")
    assert pods_of(hostile) == before


def records(cluster: LiveCluster) -> list[str]:
    return sorted(each["metadata"]["name"] for each in cluster.get("noderecords")["items"])


def label(cluster: LiveCluster, node: str, key: str) -> str:
    return str(cluster.get("node", node)["metadata"]["labels"].get(key, ""))


def contested(cluster: LiveCluster) -> list[str]:
    """Records that say that another Node claims their machine."""
    return sorted(
        each["metadata"]["name"]
        for each in cluster.get("noderecords")["items"]
        if any(told["type"] == CONTESTED for told in each["status"].get("conditions", ()))
    )


def reasons(cluster: LiveCluster) -> set[str]:
    """The reasons of events on records."""
    events = cluster.get("events", "--field-selector", "involvedObject.kind=NodeRecord")["items"]
    return {each["reason"] for each in events}


def pods_of(cluster: LiveCluster) -> list[tuple[str, str]]:
    """The pods in use, by uid, and their nodes."""
    found = cluster.get("pods", "--namespace", "kept")["items"]
    return sorted((each["metadata"]["uid"], each["spec"]["nodeName"]) for each in found)
