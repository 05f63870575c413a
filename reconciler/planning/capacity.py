"""The existing capacity: nodes with room, machines on their way, and the places already promised.

Rules between pods look at the whole cluster. They get a cluster in which every nominated pod is on
its promised machine and every machine on its way has joined, so that each plan builds on the plans
before it.
"""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from growth.api.noderequest import COMING, RequestPhase
from growth.scheduling.cluster import Cluster
from growth.scheduling.daemonsets import runs_on
from growth.scheduling.node import Node
from growth.scheduling.occupancy import Occupancy
from growth.scheduling.resources import Resources, total
from reconciler.buying.offers import asked_for, offer_key
from reconciler.facts.marks import reusable
from reconciler.facts.serving import passing_taints_of, serves_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.pod import Pod
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.planning.nominations import Nominated


class Spot(msgspec.Struct, frozen=True, kw_only=True):
    """A node that there is or will be, and what is left of it."""

    name: str
    node: Node
    room: Resources


class PromisedCluster(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster as it will be when everything promised has come true."""

    cluster: Cluster
    spots: tuple[Spot, ...]


def ground(
    world: World,
    requests: Mapping[str, NodeRequest],
    nominated: Nominated,
    shelf: Iterable[Purchasable],
    *,
    held: Mapping[str, Sequence[Pod]] = MappingProxyType({}),
    only: AbstractSet[str] | None = None,
) -> PromisedCluster:
    """All spots that could take a pod, and the cluster that rules between pods are shown.

    `held` has, by machine, stand-ins for announced pods with a seat there. With `only`, just these
    machines become spots; the cluster still contains all of them.
    """
    coming = dict(_coming(world, requests, shelf))
    # A marked node costs nothing extra: it is used again before anything is bought.
    nodes = {**world.cluster.nodes, **reusable(world), **coming}
    cluster = _with_promised(world, nominated, nodes, held)
    names = sorted(nodes) if only is None else sorted(nodes.keys() & only)
    spots = (_spot(nodes[name], world, cluster, is_coming=name in coming) for name in names)
    return PromisedCluster(cluster=cluster, spots=tuple(spot for spot in spots if spot is not None))


def _coming(
    world: World, requests: Mapping[str, NodeRequest], shelf: Iterable[Purchasable]
) -> Iterator[tuple[str, Node]]:
    """Machines on their way, as the nodes that pods will meet."""
    known = {(item.pool.name, offer_key(item.offering)): item for item in shelf}
    for name, request in requests.items():
        node = world.cluster.nodes.get(name)
        # Without the second check such a node was no room for a moment, and a burst that was
        # planned in that moment bought it again.
        if request.status.phase not in COMING and not _is_about_to_serve(request, node, world):
            continue
        item = known.get((request.spec.pool, asked_for(request.spec)))
        if node is not None and (name in world.records or item is None):
            yield name, _as_it_will_serve(node, world)
            continue
        # A Node may come before the answer that gives its machine a record. Until then its taints
        # aren't known as growth's own, and a pod that was seen in that moment bought it again.
        # An offer that is no longer sold may still arrive, but its size is unknown.
        if item is not None:
            yield name, _named(item.node, name)


def _is_about_to_serve(request: NodeRequest, node: Node | None, world: World) -> bool:
    """Whether only taints keep pods off that others remove when a node is Ready."""
    return (
        request.status.phase is RequestPhase.READY
        and node is not None
        and node.is_ready
        and not node.spec.unschedulable
        and not serves_now(node, world)
    )


def _named(node: Node, name: str) -> Node:
    labels = {**node.labels, "kubernetes.io/hostname": name}
    metadata = msgspec.structs.replace(node.metadata, name=name, labels=labels)
    return msgspec.structs.replace(node, metadata=metadata)


def _as_it_will_serve(node: Node, world: World) -> Node:
    """A node that has joined, without the taints that go before it serves."""
    passing = passing_taints_of(node, world)
    taints = tuple(taint for taint in node.spec.taints if taint.key not in passing)
    return msgspec.structs.replace(node, spec=msgspec.structs.replace(node.spec, taints=taints))


def _with_promised(
    world: World,
    nominated: Nominated,
    nodes: Mapping[str, Node],
    held: Mapping[str, Sequence[Pod]],
) -> Cluster:
    promised: defaultdict[str, list[Pod]] = defaultdict(list)
    for uid, place in nominated.places.items():
        pod = world.pending.get(uid)
        if pod is not None and place.machine in nodes:
            promised[place.machine].append(pod)
    occupancies = dict(world.cluster.occupancies)
    for name in sorted(promised.keys() | (held.keys() & nodes.keys())):
        running = world.cluster.occupancy(name).pods
        there = {pod.metadata.uid for pod in running}
        more = (pod for pod in promised.get(name, ()) if pod.metadata.uid not in there)
        occupancies[name] = Occupancy((*running, *more, *held.get(name, ())))
    return msgspec.structs.replace(world.cluster, nodes=nodes, occupancies=occupancies)


def _spot(node: Node, world: World, cluster: Cluster, *, is_coming: bool) -> Spot | None:
    if not is_coming and not serves_now(node, world):
        return None
    running = cluster.occupancy(node.name)
    # Pods of DaemonSets take their room as soon as the node is there, before any of these pods.
    missing = (
        each.prototype.requests
        for each in cluster.daemon_sets.values()
        if each.metadata.uid not in running.controllers and runs_on(each, node)
    )
    room = node.allocatable - running.requested - total(missing)
    return Spot(name=node.name, node=node, room=room)
