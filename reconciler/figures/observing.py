"""Metrics of pools that only observe: what growth would have now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from reconciler.core.world import World


def observed_families(world: World) -> Iterator[Metric]:
    """The machines that growth would have, their cost, and pods without a place."""
    machines = GaugeMetricFamily(
        "growth_observed_machines",
        "Machines that growth would have now, in a pool that only observes",
        labels=("pool",),
    )
    cost = GaugeMetricFamily(
        "growth_observed_hourly_cost",
        "What these machines would cost per hour",
        labels=("pool",),
    )
    unplaced = GaugeMetricFamily(
        "growth_observed_unplaced_pods",
        "Pods for which growth would have no machine, in a pool that only observes",
        labels=("pool",),
    )
    for pool, known in sorted(world.ledger.observing.written.items()):
        machines.add_metric((pool,), len(known.machines))
        cost.add_metric((pool,), float(sum(each.price for each in known.machines)))
        unplaced.add_metric((pool,), known.unplaced)
    yield machines
    yield cost
    yield unplaced
