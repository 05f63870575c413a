"""Metrics of scaling policies: what they decide, what holds them up, and what they see."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import prometheus_client as prometheus
from prometheus_client.core import GaugeMetricFamily

from growth.api.scaling_status import ScalingStep, new_holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import CollectorRegistry, Metric

    from growth.keeping.size import PoolSize
    from reconciler.core.world import World

LOCK: Final = "Lock"


class ScalingFigures:
    """Counts the decisions of policies; each counts once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seen: dict[str, PoolSize] = {}
        self._decisions = prometheus.Counter(
            "growth_scaling_decisions",
            "Decisions of scaling policies: up, down or none, and why",
            ("decision", "reason"),
            registry=registry,
        )
        self._up = prometheus.Counter(
            "growth_scale_up", "Decisions to add nodes to a pool", ("pool",), registry=registry
        )
        self._down = prometheus.Counter(
            "growth_scale_down", "Decisions to give back nodes", ("pool",), registry=registry
        )
        self._blocked = prometheus.Counter(
            "growth_scale_down_blocked",
            "What has begun to hold a scaling policy up, by reason",
            ("reason",),
            registry=registry,
        )

    def look(self, world: World) -> None:
        """Count what is new in the answers of this pass."""
        sizes = world.ledger.scaling.sizes
        for name, size in sizes.items():
            before = self._seen.get(name)
            if size.reason and (before is None or _made(before) != _made(size)):
                self._count(name, size)
            self._held(before, size)
        self._seen = dict(sizes)

    def _count(self, pool: str, size: PoolSize) -> None:
        self._decisions.labels(size.step.value.lower(), size.reason).inc()
        if size.step is ScalingStep.UP:
            self._up.labels(pool).inc()
        if size.step is ScalingStep.DOWN:
            self._down.labels(pool).inc()

    def _held(self, before: PoolSize | None, size: PoolSize) -> None:
        for hold in new_holds(before.holds if before else (), size.holds):
            self._blocked.labels(hold.reason).inc()

    def forget(self) -> None:
        """Forget all answers: another process counts from now on."""
        self._seen = {}


def _made(size: PoolSize) -> tuple[object, ...]:
    """What tells two decisions apart; between two runs of a policy, the last one stands."""
    return (
        *(size.decided_at, size.step, size.change, size.reason),
        *(size.scaled_up_at, size.scaled_down_at),
    )


def scaling_families(world: World) -> Iterator[Metric]:
    """What the policies have seen last, and what holds them up."""
    seen, (lock, held) = _families_of_answers(), _families_of_holds()
    for pool, size in sorted(world.ledger.scaling.sizes.items()):
        for name, labels, value in size.figures:
            seen[name].add_metric((pool, *labels), value)
        holds = Counter(hold.reason for hold in size.holds)
        if size.figures:
            lock.add_metric((pool,), float(LOCK in holds))
        for reason, count in holds.items():
            held.add_metric((pool, reason), count)
    yield from (*seen.values(), lock, held)


def _families_of_answers() -> dict[str, GaugeMetricFamily]:
    """What a policy shows of its numbers: those in its answers under these names."""
    families = (
        GaugeMetricFamily(
            "growth_utilisation_percent",
            "What a pool's pods request of the capacity of its untainted nodes, in percent",
            labels=("pool", "resource"),
        ),
        GaugeMetricFamily(
            "growth_utilisation_cpu_cores",
            "CPU of a pool by utilisation: requested by its pods, capacity of its untainted nodes",
            labels=("pool", "of"),
        ),
        GaugeMetricFamily(
            "growth_utilisation_memory_bytes",
            "Memory of a pool by utilisation: requested, and capacity of its untainted nodes",
            labels=("pool", "of"),
        ),
        GaugeMetricFamily(
            "growth_utilisation_nodes",
            "Nodes of a pool by utilisation: untainted, tainted, force-tainted or cordoned",
            labels=("pool", "class"),
        ),
        GaugeMetricFamily(
            "growth_scale_delta",
            "Nodes that the last run of a pool by utilisation found missing; below 0, too many",
            labels=("pool",),
        ),
    )
    return {family.name: family for family in families}


def _families_of_holds() -> tuple[GaugeMetricFamily, GaugeMetricFamily]:
    lock = GaugeMetricFamily(
        "growth_scale_lock",
        "1 while a pool waits for machines that its policy has asked for",
        labels=("pool",),
    )
    held = GaugeMetricFamily(
        "growth_scale_holds",
        "What holds a pool's scaling policy up now, by reason; a check counts once for each node",
        labels=("pool", "reason"),
    )
    return lock, held
