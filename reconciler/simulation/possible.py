"""Which machines could be bought for a pod: the auditor's own answer, from the catalogue alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from growth.api.wellknown import DEFAULT_POOL, POOL_LABEL
from growth.scheduling.daemonsets import daemon_pods
from growth.scheduling.fits import verdict
from growth.scheduling.verdicts import Fits
from reconciler.planning.templates import template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.api.written import ServerTypeName
    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.providers.port import Offering
    from reconciler.simulation.scheduler import Scheduler
    from reconciler.simulation.surroundings import Surroundings


class Sort(NamedTuple):
    """What a maximum counts."""

    pool: str
    server_type: ServerTypeName


class Possible:
    """What could be bought for whom, whatever is bought already."""

    def __init__(
        self, around: Surroundings, scheduler: Scheduler, offerings: tuple[Offering, ...]
    ) -> None:
        self._pools = around.server.kind("NodePool")
        self._scheduler = scheduler
        self._offerings = offerings
        self._known: dict[Shape, tuple[Sort, ...]] = {}

    def sorts_for(self, pod: Pod) -> tuple[Sort, ...]:
        """The machines that would hold the pod. Pools and prices stay, so shapes are remembered."""
        if pod.shape not in self._known:
            self._known[pod.shape] = tuple(self._sorts_for(pod))
        return self._known[pod.shape]

    def maximum(self, sort: Sort) -> int:
        """How many there may be of it."""
        pool: NodePool | None = self._pools.named(sort.pool)
        entries = pool.spec.server_types if pool is not None else ()
        return next((entry.max for entry in entries if entry.name == sort.server_type), 0)

    def _sorts_for(self, pod: Pod) -> Iterator[Sort]:
        pool: NodePool | None = self._pools.named(
            pod.spec.node_selector.get(POOL_LABEL, DEFAULT_POOL)
        )
        if pool is None:
            return
        for offering in self._offerings:
            sort = Sort(pool.name, offering.server_type)
            if self.maximum(sort) and self._holds(pool, offering, pod):
                yield sort

    def _holds(self, pool: NodePool, offering: Offering, pod: Pod) -> bool:
        cluster = self._scheduler.cluster
        node = template(pool, offering, name="possible")
        daemons = daemon_pods(node, cluster.daemon_sets.values())
        return isinstance(verdict(pod, node, cluster.with_node(node, pods=daemons)), Fits)
