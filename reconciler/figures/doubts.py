"""Metrics of what growth doesn't trust, and so doesn't act on: listings, orphans, sick nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client.core import GaugeMetricFamily

from growth.api.conditions import Truth
from reconciler.pools import limits_reached, many_sick
from reconciler.removal import another_writer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from reconciler.core.world import World

LABELS = ("kind", "node_class")
BRAKES: Final = (another_writer.HELD, many_sick.CONDITION, limits_reached.CONDITION)
"""Conditions of pools that stop actions for safety."""


def doubt_families(world: World) -> Iterator[Metric]:
    """The metrics of what isn't trusted."""
    yield _doubted(world)
    yield _orphans(world)
    yield _brakes(world)


def _doubted(world: World) -> Metric:
    doubted = GaugeMetricFamily(
        "growth_cloud_listing_doubted",
        "1 if a complete listing of a node class's machines isn't trusted because too many "
        "expected machines are missing",
        labels=LABELS,
    )
    for key, trust in sorted(world.ledger.brakes.clouds.items()):
        is_doubted = trust.suspected_at is not None and bool(trust.doubt)
        doubted.add_metric(key, float(is_doubted))
    return doubted


def _orphans(world: World) -> Metric:
    orphans = GaugeMetricFamily(
        "growth_cloud_orphans",
        "Listed machines without a NodeRequest, Node or removal",
        labels=LABELS,
    )
    known = world.ledger.removal.orphans
    for key, sight in sorted(world.clouds.items()):
        listed = sight.listing.machines if sight.listing is not None else {}
        orphans.add_metric(key, len(known.keys() & listed.keys()))
    return orphans


def _brakes(world: World) -> Metric:
    brakes = GaugeMetricFamily(
        "growth_pool_brake",
        "Pools in which something is held back for safety, by condition and reason: RemovalHeld, "
        "ManySick, LimitReached",
        labels=("pool", "condition", "reason"),
    )
    for name, pool in sorted(world.pools.items()):
        for each in pool.status.conditions:
            if each.type in BRAKES and each.status is Truth.TRUE:
                brakes.add_metric((name, each.type, each.reason), 1)
    return brakes
