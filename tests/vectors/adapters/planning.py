"""What of planning has its function already: what is offered, what counts, labels of nodes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from typing_extensions import override

from growth.scheduling.fits import verdict
from growth.scheduling.verdicts import Fits
from reconciler.actions import CreateNodeRequest
from reconciler.planning import decide
from reconciler.planning.choosing import counts
from reconciler.planning.templates import node_labels
from tests.reconciler.build import at, node_class, pool, request, waiting, world
from tests.scheduling import build
from tests.scheduling.build import ZONE
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.scheduling.objects import Node
    from reconciler.world import World
    from tests.vectors.rows import Json


@adapts("filter_offerings")
def filtered_offerings(given: Json) -> Json:
    """An offering is kept if it is bought when there is no other."""
    # A pool without any type can't be written; one with a type that nobody sells is as good.
    names = given["pool_types"] or ["sold-nowhere"]
    pools = pool(serverTypes=[{"name": name, "max": 1} for name in names])
    return {"kept": [name for name in given["offerings"] if _is_bought(name, pools)]}


@adapts("occupied_counts")
def occupied_counts(given: Json) -> Json:
    requests = [
        request(
            f"{name}-{kind}-{number}",
            pool=name,
            serverType=kind,
            targetOffering=f"kwok-{kind}",
        )
        for name, kind, number in _each(given["requests"])
    ]
    nodes = [_node_of(name, kind, number) for name, kind, number in _each(given["nodes"])]
    seen = world(*requests, *nodes)
    merged: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (name, kind), count in counts(seen, seen.requests.values()).items():
        merged[name][kind.canonical] = count
    return {"merged": dict(merged)}


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
        "keys": _AtLeast(
            f"{key.removeprefix('growth.dev/')}={each}" for key, each in labels.items()
        )
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
            cluster, placed = cluster.with_pod(pod, node=found.name), placed + 1
    return {"scheduled": placed}


_APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}


class _AtLeast(frozenset[str]):
    """A row names some of the labels that a node gets; all of those have to be there."""

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and self.issuperset(other)

    __hash__ = frozenset.__hash__


def _selling(kind: str, pools: NodePool) -> World:
    resources = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    offers = [{"location": "here", "price": "1"}]
    only = node_class(types=[{"name": kind, "resources": resources, "offers": offers}])
    return world(pools, only, waiting(requests={"cpu": "1"}))


def _is_bought(kind: str, pools: NodePool) -> bool:
    steps = (step for each in decide(_selling(kind, pools), at(0)).sequences for step in each.steps)
    return any(isinstance(step, CreateNodeRequest) for step in steps)


def _each(counted: dict[str, dict[str, int]]) -> Iterator[tuple[str, str, int]]:
    for name, kinds in counted.items():
        for kind, count in kinds.items():
            yield from ((name, kind, number) for number in range(count))


def _node_of(pool: str, kind: str, number: int) -> Node:
    labels = {"growth.dev/pool": pool, "growth.dev/instance-type": kind}
    return build.node(f"node-{pool}-{kind}-{number}", labels=labels)
