"""All metrics of the leader, which are updated with each World and each effect."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from prometheus_client import Histogram

from reconciler.figures.durations import NodeDurations
from reconciler.figures.effects import EffectFigures
from reconciler.figures.gauges import WorldGauges
from reconciler.figures.openings import OpeningFigures
from reconciler.figures.plans import PlanFigures
from reconciler.figures.removals import RemovalFigures
from reconciler.figures.scaling import ScalingFigures
from reconciler.figures.stages import StageFigures

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.effects.points import Point


SOON: Final = 0.01
"""The delay in seconds after a pass has begun. Ten thousand new pods take a while, and metrics must
not delay the solver."""

PASS_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Figures:
    """The metrics of the leader. Create it once per registry."""

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        pod_of: Callable[[str, str], Pod | None],
        now: Callable[[], Instant],
    ) -> None:
        self._now = now
        self.passes = Histogram(
            "growth_pass_seconds",
            "Time of one pass: a World is made, all rules decide, and what they want begins",
            buckets=PASS_BUCKETS,
            registry=registry,
        )
        self._gauges = WorldGauges(registry, now=now)
        self._plans = PlanFigures(registry)
        self._stages = StageFigures(registry, pod_of=pod_of)
        self._removals = RemovalFigures(registry)
        self._scaling = ScalingFigures(registry)
        self._durations = NodeDurations(registry)
        self._openings = OpeningFigures(registry)
        self._effects = EffectFigures(registry)
        self._shown: tuple[World, Instant] | None = None
        self._waiting: asyncio.TimerHandle | None = None

    def show(self, world: World) -> None:
        """Note the World of a pass; it is evaluated a little later."""
        self._shown = world, self._now()
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(SOON, self._catch_up)

    def _catch_up(self) -> None:
        self._waiting = None
        if self._shown is not None:
            self.look(*self._shown)

    def look(self, world: World, now: Instant) -> None:
        """The figures at this time."""
        self._gauges.world = world
        self._plans.look(world)
        self._removals.look(world)
        self._scaling.look(world)
        self._durations.look(world)
        self._openings.look(world)
        self._stages.look(world, now)

    def forget(self) -> None:
        """Forget everything after the leadership is lost, as it becomes outdated."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._shown = self._waiting = self._gauges.world = None
        self._removals.forget()
        self._scaling.forget()
        self._durations.forget()
        self._openings.forget()
        self._stages.forget()

    def also(self, announce: Callable[[Point], None]) -> Callable[[Point], None]:
        """The same announcement function, which also counts effects."""

        def announced(point: Point) -> None:
            self._effects.count(point)
            announce(point)

        return announced
