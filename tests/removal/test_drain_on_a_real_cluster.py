"""What the real eviction API answers, and pools that are deleted with pods on their nodes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.wellknown import POOL_LABEL
from growth.kube.transport import connect
from reconciler.core.actions import Evict
from reconciler.effects.eviction import EvictionRefusal, evict
from tests.live import IN_TIME, wait_until
from tests.thread.growing import (
    FORGOTTEN,
    deployment,
    pool_of,
    reconciling,
    wait_until_bound,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster


def budget(name: str, *, app: str, healthy: int) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"minAvailable": healthy, "selector": selector},
    }


def pod(name: str, *, app: str, on: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app}},
        "spec": {"nodeName": on, "containers": [{"name": "main", "image": "none"}]},
    }


def ready(cluster: LiveCluster, namespace: str) -> list[Any]:
    """The pods that serve."""
    return [
        each
        for each in cluster.get("pods", "--namespace", namespace)["items"]
        if "deletionTimestamp" not in each["metadata"]
        and any(said["type"] == "Ready" and said["status"] == "True" for said in _said(each))
    ]


def _said(each: Any) -> list[Any]:
    found: list[Any] = each["status"].get("conditions", [])
    return found


async def test_what_the_real_server_answers_is_understood(growing: LiveCluster) -> None:
    growing.kubectl("create", "namespace", "asked")
    (node, *_) = growing.get("nodes")["items"]
    place = node["metadata"]["name"]
    growing.create(
        *(pod(name, app=name, on=place) for name in ("free", "held", "twice")),
        budget("held", app="held", healthy=1),
        *(budget(f"twice-{number}", app="twice", healthy=0) for number in (1, 2)),
        namespace="asked",
    )
    wait_until(lambda: len(ready(growing, "asked")) == 3, "all serve")
    counted = lambda: all(  # noqa: E731 - said once
        each["status"].get("expectedPods") == 1
        for each in growing.get("poddisruptionbudgets", "--namespace", "asked")["items"]
    )
    wait_until(counted, "budgets are counted")
    pods = growing.get("pods", "--namespace", "asked")["items"]
    uids = {each["metadata"]["name"]: each["metadata"]["uid"] for each in pods}

    async with await connect(kubeconfig=growing.kubeconfig) as connection:

        async def said(name: str, uid: str) -> EvictionRefusal | None:
            return await evict(connection, Evict(namespace="asked", name=name, uid=uid))

        assert await said("free", "of-another") is None
        assert "free" in {each["metadata"]["name"] for each in ready(growing, "asked")}, (
            "it is another pod than the one that was meant"
        )
        held, twice = await said("held", uids["held"]), await said("twice", uids["twice"])
        assert held is not None
        assert "disruption budget" in held.why
        assert twice is not None
        assert "more than one PodDisruptionBudget" in twice.why
        assert await said("free", uids["free"]) is None
        assert await said("never", "was-there") is None
    gone = lambda: "free" not in growing.kubectl("get", "pods", "-n", "asked", "-o", "name")  # noqa: E731 - said once
    wait_until(gone, "the free one ends")
    growing.kubectl("delete", "namespace", "asked", "--wait=false")


def wandering(*, replicas: int, pools: list[str]) -> dict[str, Any]:
    """Pods that one machine holds one of, and that may be in several pools."""
    terms = [{"matchExpressions": [{"key": POOL_LABEL, "operator": "In", "values": pools}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    requests = {"cpu": "1500m", "memory": "1Gi"}
    spec = {
        "containers": [{"name": "main", "image": "none", "resources": {"requests": requests}}],
        "affinity": {"nodeAffinity": required},
    }
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def circumstances(cluster: LiveCluster, log: Path) -> str:
    """What is to be known of a drain that doesn't end."""
    seen = [
        cluster.kubectl("get", "pods,poddisruptionbudgets", "-n", "moved", "-o", "yaml"),
        cluster.kubectl("get", "nodes,noderequests,noderemovalrequests", "-o", "wide"),
    ]
    return "\n".join((*seen, log.read_text()[-4000:]))


def nodes(cluster: LiveCluster, pool: str) -> list[str]:
    return cluster.kubectl("get", "nodes", "-l", f"{POOL_LABEL}={pool}", "-o", "name").split()


def pool(name: str, *, weight: int) -> dict[str, Any]:
    made = {**pool_of("cx23"), "metadata": {"name": name}}
    rules = {**FORGOTTEN, "weight": weight, "disruption": {"consolidation": "Never"}}
    return made | {"spec": made["spec"] | rules}


def test_a_deleted_pool_is_drained_and_its_workload_serves_on(
    growing: LiveCluster, tmp_path: Path
) -> None:
    """In the background, then with a foreground cascade: the objects that belong to it end at once.

    Three pools, each of them the best as long as it is there.
    """
    growing.kubectl("create", "namespace", "moved")
    pools = ["first", "second", "third"]
    for weight, name in enumerate(reversed(pools), start=1):
        growing.create(pool(name, weight=weight))
    with reconciling(growing, tmp_path / "log"):
        growing.create(wandering(replicas=2, pools=pools), namespace="moved")
        growing.create(budget("web", app="web", healthy=1), namespace="moved")
        wait_until(lambda: len(ready(growing, "moved")) == 2, "all serve")
        assert len(nodes(growing, "first")) == 2
        for name, cascade in (("first", "background"), ("second", "foreground")):
            words = ("delete", "nodepool", name, f"--cascade={cascade}", "--wait=false")
            growing.kubectl(*words)
            fewest, began = 2, time.monotonic()
            while growing.try_kubectl("get", "nodepool", name).returncode == 0:
                fewest = min(fewest, len(ready(growing, "moved")))
                assert time.monotonic() - began < IN_TIME, circumstances(growing, tmp_path / "log")
            assert fewest >= 1, "its budget holds"
            assert nodes(growing, name) == []
            began = time.monotonic()
            while len(ready(growing, "moved")) < 2:
                assert time.monotonic() - began < IN_TIME, circumstances(growing, tmp_path / "log")
        assert len(nodes(growing, "third")) == 2
    told = growing.get("events", "--field-selector", "reason=DrainStarted", "-A")["items"]
    assert len(told) >= 4, "people can read it on each node"


def placed(cluster: LiveCluster, namespace: str) -> dict[str, str]:
    """The nodes of its pods, by uid: a pod that was moved is another one."""
    pods = cluster.get("pods", "--namespace", namespace)["items"]
    return {each["metadata"]["uid"]: each["spec"].get("nodeName", "") for each in pods}


def marks(cluster: LiveCluster, pool: str) -> set[str]:
    """What growth has written on the nodes of a pool that are about to go."""
    found = cluster.get("nodes", "-l", f"{POOL_LABEL}={pool}")["items"]
    taints = {each["key"] for node in found for each in node["spec"].get("taints", ())}
    dates = {
        key for node in found for key in node["metadata"]["annotations"] if "scale-down" in key
    }
    return {key for key in taints | dates if key.startswith("growth.dev/")}


def test_a_pool_that_retains_its_nodes_leaves_all_of_them_as_they_are(
    growing: LiveCluster, tmp_path: Path
) -> None:
    """Idle or not, and whichever cascade deletes what belongs to the pool."""
    growing.kubectl("create", "namespace", "left")
    pools = {"left-1": "background", "left-2": "foreground"}
    retained = {"deletionPolicy": "Retain", "scaleDown": {"idleAfter": "1h"}}
    for name in pools:
        made = pool(name, weight=1)
        growing.create(made | {"spec": made["spec"] | retained})
    with reconciling(growing, tmp_path / "log"):
        for name in pools:
            pods = deployment(name, pool=name, replicas=2, cpu="1500m", memory="1Gi")
            growing.create(pods, namespace="left")
        wait_until_bound(growing, "left", count=4)
        growing.kubectl("scale", "deployment", *pools, "--replicas=1", "--namespace=left")
        for name in pools:
            is_marked = lambda name=name: marks(growing, name)  # noqa: E731 - said once
            wait_until(is_marked, "the idle one is marked")
        before = placed(growing, "left")
        assert len(before) == 2
        for name, cascade in pools.items():
            growing.kubectl("delete", "nodepool", name, f"--cascade={cascade}", "--timeout=180s")
            assert len(nodes(growing, name)) == 2
            assert marks(growing, name) == set()
        assert placed(growing, "left") == before
        assert not growing.get("noderemovalrequests")["items"]
    growing.kubectl("delete", "namespace", "left", "--wait=false")
    growing.kubectl("delete", "nodes", "-l", f"{POOL_LABEL} in (left-1,left-2)")


@pytest.mark.long
def test_a_node_stays_as_it_was_when_a_pod_may_not_be_moved(
    growing: LiveCluster, tmp_path: Path
) -> None:
    """Somebody opens a removal for the sake of cost, by hand."""
    growing.kubectl("create", "namespace", "protected")
    growing.create(pool("protected", weight=1))
    with reconciling(growing, tmp_path / "log"):
        made = wandering(replicas=1, pools=["protected"])
        annotations = {"growth.dev/do-not-disrupt": "true"}
        made["spec"]["template"]["metadata"]["annotations"] = annotations
        growing.create(made, namespace="protected")
        wait_until(lambda: ready(growing, "protected"), "it serves")
        (name,) = (each.removeprefix("node/") for each in nodes(growing, "protected"))
        node = growing.get("node", name)
        owner = growing.get("nodepool", "protected")["metadata"]
        growing.create(
            {
                "apiVersion": "growth.dev/v1alpha1",
                "kind": "NodeRemovalRequest",
                "metadata": {
                    "name": name,
                    "finalizers": ["growth.dev/provider-cleanup"],
                    "ownerReferences": [
                        {
                            "apiVersion": "growth.dev/v1alpha1",
                            "kind": "NodePool",
                            "name": "protected",
                            "uid": owner["uid"],
                            "controller": True,
                            "blockOwnerDeletion": False,
                        }
                    ],
                },
                "spec": {
                    "pool": "protected",
                    "nodeName": name,
                    "nodeID": node["spec"]["providerID"],
                    "requestUID": _request_uid(growing, name),
                    "reason": "Consolidation",
                },
            }
        )
        gone = lambda: growing.try_kubectl("get", "nrr", name).returncode != 0  # noqa: E731 - said once
        wait_until(gone, "the removal is given up")
    after = growing.get("node", name)
    assert "unschedulable" not in after["spec"]
    assert "growth.dev/cordoned" not in after["metadata"]["annotations"]
    told = growing.get("events", "--field-selector", "reason=DrainGivenUp", "-A")["items"]
    assert any("do-not-disrupt" in each["message"] for each in told)


def _request_uid(cluster: LiveCluster, node: str) -> str:
    """As the provider lists it: kwok keeps it on the node."""
    annotations: dict[str, str] = cluster.get("node", node)["metadata"]["annotations"]
    return next(text for key, text in annotations.items() if key.endswith("request-uid"))
