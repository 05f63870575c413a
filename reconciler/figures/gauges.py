"""Metrics that are computed from the last World when they are scraped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.registry import Collector
from typing_extensions import override

from reconciler.figures.aside import aside_families
from reconciler.figures.bounds import KeptPods
from reconciler.figures.demand import demand_families
from reconciler.figures.doubts import doubt_families
from reconciler.figures.kept import kept_families
from reconciler.figures.machines import machine_families
from reconciler.figures.observing import observed_families
from reconciler.figures.pools import pool_families
from reconciler.figures.scaling import scaling_families

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import CollectorRegistry, Metric

    from growth.instant import Instant
    from reconciler.core.world import World


class WorldGauges(Collector):
    """The last World as gauges; nothing in a process that doesn't lead."""

    def __init__(self, registry: CollectorRegistry, *, now: Callable[[], Instant]) -> None:
        self.world: World | None = None
        self._now = now
        self._kept = KeptPods()
        registry.register(self)

    @override
    def collect(self) -> Iterable[Metric]:
        """The values at the last pass; each change leads to a pass."""
        world = self.world
        if world is None:
            return
        now = self._now()
        yield from demand_families(world, now)
        yield from pool_families(world, now, self._kept)
        yield from machine_families(world, now)
        yield from kept_families(world, now)
        yield from doubt_families(world)
        yield from aside_families(world)
        yield from observed_families(world)
        yield from scaling_families(world)
