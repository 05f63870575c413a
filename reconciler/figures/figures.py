"""All figures of the leader as one thing, which is shown each World and each effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.figures.effects import EffectFigures
from reconciler.figures.gauges import WorldGauges
from reconciler.figures.plans import PlanFigures
from reconciler.figures.stages import StageFigures

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.points import Point
    from reconciler.world import World


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
        self._effects = EffectFigures(registry)

    def look(self, world: World) -> None:
        """This is what the loop decides on now."""
        self._gauges.world = world
        self._plans.look(world)
        self._stages.look(world, self._now())

    def forget(self) -> None:
        """The lead is lost: what is known here grows old from now on."""
        self._gauges.world = None
        self._stages.forget()

    def also(self, announce: Callable[[Point], None]) -> Callable[[Point], None]:
        """The same announcement, counted too."""

        def announced(point: Point) -> None:
            self._effects.count(point)
            announce(point)

        return announced
