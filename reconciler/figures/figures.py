"""All figures of the leader as one thing, which is shown each World and each effect."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from reconciler.figures.effects import EffectFigures
from reconciler.figures.gauges import WorldGauges
from reconciler.figures.plans import PlanFigures
from reconciler.figures.removals import RemovalFigures
from reconciler.figures.stages import StageFigures

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.effects.points import Point


SOON: Final = 0.01
"""Seconds after a pass has begun: ten thousand new pods take a while, and the solver waits for no
metric. As often as the loop passes at most."""


class Figures:
    """Make it once for each registry."""

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        pod_of: Callable[[str, str], Pod | None],
        now: Callable[[], Instant],
    ) -> None:
        self._now = now
        self._gauges = WorldGauges(registry, now=now)
        self._plans = PlanFigures(registry)
        self._stages = StageFigures(registry, pod_of=pod_of)
        self._removals = RemovalFigures(registry)
        self._effects = EffectFigures(registry)
        self._shown: tuple[World, Instant] | None = None
        self._waiting: asyncio.TimerHandle | None = None

    def show(self, world: World) -> None:
        """This is what the loop decides on now; it is looked at when that is under way."""
        self._shown = world, self._now()
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(SOON, self._catch_up)

    def _catch_up(self) -> None:
        self._waiting = None
        if self._shown is not None:
            self.look(*self._shown)

    def look(self, world: World, now: Instant) -> None:
        """So it was at this moment."""
        self._gauges.world = world
        self._plans.look(world)
        self._removals.look(world)
        self._stages.look(world, now)

    def forget(self) -> None:
        """The lead is lost: what is known here grows old from now on."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._shown = self._waiting = self._gauges.world = None
        self._removals.forget()
        self._stages.forget()

    def also(self, announce: Callable[[Point], None]) -> Callable[[Point], None]:
        """The same announcement, counted too."""

        def announced(point: Point) -> None:
            self._effects.count(point)
            announce(point)

        return announced
