"""Requests, pools and nodes on a real control plane: what no table can show."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.wellknown import GROUP_VERSION
from reconciler.providers.kwok.machines import READY_AFTER_ANNOTATION
from tests.live import bring_down, bring_up, wait_until
from tests.thread.growing import deployment, install, machines, reconciling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

PLACE = [{"location": "here", "price": "0.01"}]
DEAR = [{"location": "here", "price": "0.03"}]
SIZE = {"cpu": "4", "memory": "8Gi", "pods": "110"}
CLASS: dict[str, Any] = {
    "apiVersion": GROUP_VERSION,
    "kind": "KwokNodeClass",
    "metadata": {"name": "default"},
    "spec": {
        "types": [
            {"name": "cheap", "resources": SIZE, "offers": PLACE},
            {"name": "dear", "resources": SIZE, "offers": DEAR},
        ],
        # It ends when the story says so; see `boots`.
        "bootDelay": {"min": "5m", "max": "5m"},
        "faults": [{"kind": "StockOut", "serverType": "cheap"}],
    },
}
POOL: dict[str, Any] = {
    "apiVersion": GROUP_VERSION,
    "kind": "NodePool",
    "metadata": {"name": "main"},
    "spec": {
        "serverTypes": [{"name": "cheap", "max": 9}, {"name": "dear", "max": 9}],
        "labels": {"team": "a"},
        "deletionPolicy": "Retain",
    },
}
AGENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "agent"},
    "spec": {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {
            "metadata": {"labels": {"app": "agent"}},
            "spec": {
                "containers": [{"name": "main", "image": "none"}],
                "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
            },
        },
    },
}


@pytest.fixture(scope="module")
def bought(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveCluster]:
    """A pool whose cheapest type is sold out, and a pod that has got its node all the same."""
    name = f"growth-test-{os.getpid()}-life"
    log: Path = tmp_path_factory.mktemp("life") / "log"
    try:
        cluster = bring_up(name)
        install(cluster)
        cluster.create(CLASS, POOL)
        cluster.kubectl("create", "namespace", "life")
        cluster.create(AGENT, namespace="life")
        with reconciling(cluster, log):
            web = deployment("web", pool="main", replicas=1, cpu="3", memory="1Gi")
            cluster.create(web, namespace="life")
            wait_until(lambda: boots(cluster), "the agent runs, and the machine boots to its end")
            wait_until(lambda: is_ready(cluster), "a request is Ready")
            yield cluster
    finally:
        bring_down(name)


def boots(cluster: LiveCluster) -> bool:
    """The machine boots to its end, as soon as its daemon runs."""
    for pod in agents(cluster):
        node = pod["spec"].get("nodeName", "")
        if "startTime" in pod["status"] and not node.endswith("control-plane"):
            cluster.kubectl("annotate", "node", node, f"{READY_AFTER_ANNOTATION}=0s", "--overwrite")
            return True
    return False


def agents(cluster: LiveCluster) -> list[dict[str, Any]]:
    found = cluster.get("pods", "--namespace", "life", "--selector", "app=agent")
    return list(found["items"])


def is_ready(cluster: LiveCluster) -> bool:
    return any(each["status"]["phase"] == "Ready" for each in requests(cluster))


def requests(cluster: LiveCluster) -> list[dict[str, Any]]:
    found = cluster.get("noderequests")["items"]
    return [each for each in found if "status" in each]


def moment(written: str) -> datetime:
    return datetime.fromisoformat(written)


def test_a_stock_out_costs_one_round_of_planning(bought: LiveCluster) -> None:
    by_type = {each["spec"]["serverType"]: each["status"] for each in requests(bought)}
    assert by_type["cheap"]["phase"] == "Unmet"
    assert by_type["dear"]["phase"] == "Ready"
    (asked,) = (each for each in by_type["dear"]["events"] if each["name"] == "nodeRequested")
    took = moment(asked["at"]) - moment(by_type["cheap"]["lastTransitionTime"])
    # It is told, not judged: other programs run beside us.
    sys.stdout.write(f"next machine accepted {took.total_seconds() * 1000:.0f} ms later\n")
    (refused,) = bought.get("nodepool", "main")["status"]["unmetOffers"]
    assert (refused["serverType"], refused["failures"]) == ("cheap", 1)


def test_a_daemon_that_tolerates_no_schedule_runs_before_the_node_may_serve(
    bought: LiveCluster,
) -> None:
    (node,) = bought.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]
    (ready,) = (each for each in node["status"]["conditions"] if each["type"] == "Ready")
    (agent,) = (
        each for each in agents(bought) if each["spec"].get("nodeName") == node["metadata"]["name"]
    )
    started = agent["status"]["startTime"]
    # Our taint stays until the node is Ready, so what ran before that has run under it.
    assert moment(started) <= moment(ready["lastTransitionTime"])


def test_a_node_is_explained_and_belongs_to_its_pool(bought: LiveCluster) -> None:
    (node,) = bought.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]
    labels, annotations = node["metadata"]["labels"], node["metadata"]["annotations"]
    name = node["metadata"]["name"]
    assert (labels["growth.dev/pool"], labels["team"]) == ("main", "a")
    assert labels["growth.dev/node-request"] == name
    assert annotations["growth.dev/price"] == "0.03"
    assert annotations["growth.dev/server-id"] == f"kwok://{name}"
    assert "next" in annotations["growth.dev/plan"]
    assert "growth.dev/bought-at" in annotations


def test_a_pool_tells_what_it_has(bought: LiveCluster) -> None:
    def tells() -> bool:
        status = bought.get("nodepool", "main")["status"]
        return bool(status["ready"] == 1 and status["wanted"] == 1)

    wait_until(tells, "the pool counts its node")
    status = bought.get("nodepool", "main")["status"]
    assert status["hourlyCost"] == "0.03"
    conditions = {each["type"]: each["status"] for each in status["conditions"]}
    assert conditions["Ready"] == conditions["NodeClassReady"] == "True"


def test_a_deleted_pool_that_retains_leaves_its_nodes(bought: LiveCluster) -> None:
    """It comes last: nothing is bought for the pool any more."""
    before = set(machines(bought))
    bought.kubectl("delete", "nodepool", "main", "--timeout=180s")
    assert set(machines(bought)) == before
    (node,) = bought.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]
    keys = {each["key"] for each in node["spec"].get("taints", ())}
    assert not {key for key in keys if key.startswith("growth.dev/")}
