"""Metrics of pools: nodes, resources, costs, and what they can't buy now."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prometheus_client.core import GaugeMetricFamily

from growth.scheduling.resources import CPU, MEMORY, Resources, total
from reconciler.facts.fleet import nodes_of_pools
from reconciler.figures.bounds import least_cost
from reconciler.replacement.renewing import expired_of_pools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.figures.bounds import KeptPods

MILLION = 1_000_000


class _Family(NamedTuple):
    """A metric of one pool; values are added with the labels after that of the pool."""

    metric: GaugeMetricFamily
    pool: str

    def add(self, value: float, *labels: str) -> None:
        self.metric.add_metric((self.pool, *labels), value)


def pool_families(world: World, now: Instant, kept: KeptPods) -> Iterator[Metric]:
    """The metrics of pools."""
    kept.keep_only(world.cluster.nodes)
    yield from _nodes(world)
    yield _expired(world, now)
    yield from _money(world, kept)
    yield from _room(world)
    yield from _refusals(world, now)


def _each(world: World, metric: GaugeMetricFamily) -> Iterator[tuple[_Family, NodePool]]:
    return ((_Family(metric, name), pool) for name, pool in sorted(world.pools.items()))


def _nodes(world: World) -> Iterator[Metric]:
    nodes = GaugeMetricFamily(
        "growth_pool_nodes",
        "Nodes of a pool: joined (all), ready (serving), requested (on their way)",
        labels=("pool", "server_type", "state"),
    )
    for told, pool in _each(world, nodes):
        for each in pool.status.server_types:
            told.add(each.nodes, str(each.name), "joined")
            told.add(each.ready, str(each.name), "ready")
            told.add(each.requested, str(each.name), "requested")
    yield nodes
    limit = GaugeMetricFamily(
        "growth_pool_node_limit", "Maximum number of nodes of a pool, if set", labels=("pool",)
    )
    for told, pool in _each(world, limit):
        if pool.spec.limits.nodes is not None:
            told.add(pool.spec.limits.nodes)
    yield limit


def _expired(world: World, now: Instant) -> Metric:
    expired = GaugeMetricFamily(
        "growth_pool_nodes_expired",
        "Nodes of a pool that are older than its expireAfter and still wait for their replacement",
        labels=("pool",),
    )
    for name, number in expired_of_pools(world, now).items():
        expired.add_metric((name,), number)
    return expired


def _money(world: World, kept: KeptPods) -> Iterator[Metric]:
    cost = GaugeMetricFamily(
        "growth_pool_cost_per_hour",
        "Cost of a pool's machines per hour, in the pool's currency",
        labels=("pool",),
    )
    limit = GaugeMetricFamily(
        "growth_pool_cost_limit_per_hour",
        "Maximum cost of a pool per hour, if set",
        labels=("pool",),
    )
    bound = GaugeMetricFamily(
        "growth_pool_cost_bound_per_hour",
        "Lower bound of the cost per hour of the pods on a pool's nodes, with any choice of the "
        "pool's offers",
        labels=("pool",),
    )
    for told, pool in _each(world, cost):
        told.add(float(pool.status.hourly_cost))
    for told, pool in _each(world, limit):
        if pool.spec.limits.hourly_cost is not None:
            told.add(float(pool.spec.limits.hourly_cost))
    for told, pool in _each(world, bound):
        told.add(_least(pool, world, kept) / MILLION)
    yield from (cost, limit, bound)


def _least(pool: NodePool, world: World, kept: KeptPods) -> float:
    names = (name for name, each in nodes_of_pools(world).items() if each.pool == pool.name)
    own = (each for each in world.ledger.planning.shelf.items if each.pool.name == pool.name)
    paid = (each for each in own if each.offering.currency == pool.status.currency)
    return least_cost(kept.of(names, world.cluster), paid)


def _room(world: World) -> Iterator[Metric]:
    cpu = GaugeMetricFamily(
        "growth_pool_cpu_cores",
        "CPU of a pool's nodes: allocatable, and requested by their pods",
        labels=("pool", "of"),
    )
    memory = GaugeMetricFamily(
        "growth_pool_memory_bytes",
        "Memory of a pool's nodes: allocatable, and requested by their pods",
        labels=("pool", "of"),
    )
    for name in sorted(world.pools):
        for of, found in zip(("allocatable", "requested"), _both(name, world), strict=True):
            cpu.add_metric((name, of), found[CPU] / 1000)
            memory.add_metric((name, of), found[MEMORY])
    yield from (cpu, memory)


def _both(pool: str, world: World) -> tuple[Resources, Resources]:
    nodes = {name: each for name, each in nodes_of_pools(world).items() if each.pool == pool}
    found = (world.cluster.occupancies.get(name) for name in nodes)
    return (
        total(each.resources for each in nodes.values()),
        total(each.requested for each in found if each is not None),
    )


def _refusals(world: World, now: Instant) -> Iterator[Metric]:
    blocked = GaugeMetricFamily(
        "growth_pool_blocked",
        "1 if a pool buys nothing until a person changes something",
        labels=("pool",),
    )
    unmet = GaugeMetricFamily(
        "growth_unmet_offers",
        "Failures in a row of a refused offer that isn't tried now; an empty type means the whole"
        " location, both empty the whole project",
        labels=("pool", "server_type", "location"),
    )
    for told, pool in _each(world, blocked):
        told.add(float(pool.status.blocked is not None))
    for told, pool in _each(world, unmet):
        for offer in pool.status.unmet_offers:
            if offer.holds(now.wall):
                told.add(offer.failures, offer.server_type, offer.location)
    yield from (blocked, unmet)
