"""Which machines could be bought for a pod, computed by the auditor from the catalogue alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from growth.api.wellknown import DEFAULT_NODE_CLASS
from growth.demand.pools import pools_of
from growth.scheduling.affinity_terms import Affinity
from growth.scheduling.daemonsets import daemon_pods
from growth.scheduling.fits import verdict
from growth.scheduling.verdicts import Fits
from reconciler.buying.templates import template
from reconciler.providers.kwok.catalogue import kwok_offerings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.kwoknodeclass import KwokNodeClass
    from growth.api.nodepool import NodePool
    from growth.api.written import ServerTypeName
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.providers.port import Offering
    from reconciler.simulation.scheduler import SimulatedScheduler
    from reconciler.simulation.surroundings import Surroundings


class CountedSort(NamedTuple):
    """A pool and a server type, which have a maximum."""

    pool: str
    server_type: ServerTypeName


class Possible:
    """Which machines could be bought for which pods, whatever has been bought already."""

    def __init__(self, around: Surroundings, scheduler: SimulatedScheduler) -> None:
        self._pools = around.server.kind("NodePool")
        self._classes = around.server.kind("KwokNodeClass")
        self._scheduler = scheduler
        self._known: dict[Shape, tuple[CountedSort, ...]] = {}
        for kind in (self._pools, self._classes):
            kind.heard_by.append(lambda _: self._known.clear())

    def may_help(self, pod: Pod) -> bool:
        """Whether machines could hold the pod, whatever the other pods are."""
        return bool(self.sorts_for(_alone(pod)))

    def sorts_for(self, pod: Pod) -> tuple[CountedSort, ...]:
        """The machines with room for the pod; cached by shape while pools don't change."""
        if pod.looks_at_others:
            return tuple(self._sorts_for(pod))
        if pod.shape not in self._known:
            self._known[pod.shape] = tuple(self._sorts_for(pod))
        return self._known[pod.shape]

    def maximum(self, sort: CountedSort) -> int:
        """The maximum number of such machines."""
        pool: NodePool | None = self._pools.named(sort.pool)
        entries = pool.spec.server_types if pool is not None else ()
        return next((entry.max for entry in entries if entry.name == sort.server_type), 0)

    def holds_still(self, machine: str, pod: Pod) -> bool:
        """Whether a machine still has room for the pod, if its node has joined."""
        cluster = self._scheduler.cluster
        node = cluster.nodes.get(machine)
        if node is None:
            return True
        if pod.looks_at_others:
            return isinstance(verdict(pod, _open(node), cluster), Fits)
        return (node.allocatable - cluster.occupancy(machine).requested).covers(pod.requests)

    def _sorts_for(self, pod: Pod) -> Iterator[CountedSort]:
        pools: dict[str, NodePool] = {pool.name: pool for pool in self._pools.objects.values()}
        for name in sorted(pools_of(pod, pools)):
            for offering in self._sold_for(pools[name]):
                sort = CountedSort(name, offering.server_type)
                if self.maximum(sort) and self._holds(pools[name], offering, pod):
                    yield sort

    def _sold_for(self, pool: NodePool) -> tuple[Offering, ...]:
        reference = pool.spec.node_class_ref
        name = DEFAULT_NODE_CLASS if reference is None else reference.name
        node_class: KwokNodeClass | None = self._classes.named(name)
        places = {location.region for location in pool.spec.locations}
        sold = () if node_class is None else kwok_offerings(node_class)
        return tuple(each for each in sold if not places or each.location in places)

    def _holds(self, pool: NodePool, offering: Offering, pod: Pod) -> bool:
        cluster = self._scheduler.cluster
        node = template(pool, offering, name="possible")
        daemons = daemon_pods(node, cluster.daemon_sets.values())
        return isinstance(verdict(pod, node, cluster.with_node(node, pods=daemons)), Fits)


def _alone(pod: Pod) -> Pod:
    """The pod without what depends on others."""
    affinity = pod.spec.affinity
    own = None if affinity is None else Affinity(node_affinity=affinity.node_affinity)
    spec = msgspec.structs.replace(
        pod.spec, affinity=own, topology_spread_constraints=(), volumes=()
    )
    return msgspec.structs.replace(pod, spec=spec)


def _open(node: Node) -> Node:
    """The node once it serves, without marks."""
    spec = msgspec.structs.replace(node.spec, taints=(), unschedulable=False)
    return msgspec.structs.replace(node, spec=spec)
