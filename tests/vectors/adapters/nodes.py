"""How a bought node is labelled, and that the planned nodes are those that the scheduler fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from growth.scheduling.fits import verdict
from growth.scheduling.metadata import Condition
from growth.scheduling.verdicts import Fits
from reconciler import provisioning
from reconciler.actions import PatchStatus, SetNode
from reconciler.planning.templates import node_labels
from tests.reconciler.build import at, node_class, pool, request, world
from tests.scheduling import build
from tests.scheduling.build import ZONE
from tests.vectors.answers import AtLeast
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.world import World
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
    """Provisioning has a few passes; what it decides is carried out."""
    key, effect = given["node_taint"].split(":")
    status = {"phase": given["request_phase"]}
    made = request(status=status)
    node = build.node(made.name, taints=[{"key": f"growth.dev/{key}", "effect": effect}])
    ready = Condition("Ready", "True" if given["node_ready"] else "False")
    node = replace(node, status=replace(node.status, conditions=(ready,)))
    for _ in range(4):
        decision = provisioning.decide(world(made, node, pool(), node_class()), at(0))
        steps = [step for sequence in decision.sequences for step in sequence.steps]
        match steps:
            case [SetNode(taints=taints)] if taints is not None:
                node = replace(node, spec=replace(node.spec, taints=taints))
            case [PatchStatus(status=after)] if after["phase"] != status["phase"]:
                status = {"phase": after["phase"]}
                made = request(status=dict(after))
            case _:
                break
    return {"taint_present": bool(node.spec.taints), "request_phase": status["phase"]}


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
            cluster, placed = cluster.with_pod(pod, node=found.name), placed + 1
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
