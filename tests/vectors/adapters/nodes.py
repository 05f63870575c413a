"""How a bought node is labelled, and that the planned nodes are those that the scheduler fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling.fits import verdict
from growth.scheduling.verdicts import Fits
from reconciler.buying.templates import node_labels
from tests.provisioning.build import Life, node, settled
from tests.reconciler.build import node_class, pool, request, world
from tests.scheduling import build
from tests.scheduling.build import ZONE
from tests.vectors.answers import AtLeast
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.core.world import World
    from tests.vectors.rows import Json


@adapts("node_labels")
def labels_of_a_node(given: Json) -> Json:
    """The original's keys have no prefix; ours of that sort have that of the product."""
    pools = pool(
        given["pool"],
        serverTypes=[{"name": given["type"], "max": 1}],
        labels=given["pool_labels"],
    )
    ((offering,),) = _selling(given["type"], pools).offerings.values()
    labels = node_labels(pools, offering, name=given["request"])
    return {
        "keys": AtLeast(f"{key.removeprefix('growth.dev/')}={each}" for key, each in labels.items())
    }


@adapts("startup_taint")
def startup_taint(given: Json) -> Json:
    """The original's taint repels running pods too; ours lets those of DaemonSets be."""
    key, effect = given["node_taint"].split(":")
    made = request(status={"phase": given["request_phase"], "nodeID": "1"})
    taints = [{"key": f"growth.dev/{key}", "effect": effect}]
    life = Life(made, settled(), node(ready=given["node_ready"], taints=taints))
    life.soon()
    return {
        "taint_present": bool(life.get("Node").spec.taints),
        "request_phase": life.phase,
    }


@adapts("scheduler_check")
def scheduled(given: Json) -> Json:
    """Pods that keep each other out of a zone, placed one after the other."""
    nodes = [
        build.node(f"node-{number}", labels={ZONE: zone})
        for number, zone in enumerate(given["node_zones"])
    ]
    cluster, placed = build.cluster(*nodes), 0
    for number in range(given["anti_affinity_pods"]):
        pod = build.pod(f"web-{number}", labels={"app": "web"}, affinity=_APART)
        fitting = (each for each in nodes if isinstance(verdict(pod, each, cluster), Fits))
        found = next(fitting, None)
        if found is not None:
            cluster, placed = cluster.with_node(found, pods=(pod,)), placed + 1
    return {"scheduled": placed}


_APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}


def _selling(kind: str, pools: NodePool) -> World:
    resources = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    offers = [{"location": "here", "price": "1"}]
    only = node_class(types=[{"name": kind, "resources": resources, "offers": offers}])
    return world(pools, only)
