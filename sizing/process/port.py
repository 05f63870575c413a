"""What the loop acts on in production: caches and hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.errors import GrowthError
from sizing.core.world import SizingUnseen
from sizing.seeing.picture import sizing_world
from sizing.seeing.sources import HVPAS

if TYPE_CHECKING:
    from sizing.core.actions import SizingAction
    from sizing.core.world import SizingMode, SizingWorld
    from sizing.effects.hands import SizingHands
    from sizing.process.events import SizingEvents
    from sizing.process.figures import SizingFigures
    from sizing.seeing.sources import SizingSources
    from sizing.seeing.used import PodUseReader


class SizingPort:
    """Sees by caches, and acts by hands."""

    def __init__(
        self,
        sources: SizingSources,
        *,
        use: PodUseReader,
        hands: SizingHands,
        figures: SizingFigures,
        events: SizingEvents,
        mode: SizingMode,
    ) -> None:
        self._sources = sources
        self._use = use
        self._hands = hands
        self._figures = figures
        self._events = events
        self._mode = mode

    def see(self) -> SizingWorld:
        """The world of this moment."""
        reason = self._sources.why_not()
        if reason:
            raise SizingUnseen(reason)
        return sizing_world(self._sources, self._use.known, self._mode)

    async def do(self, action: SizingAction) -> None:
        """Carry out one action, count it, and tell of a step."""
        try:
            await self._hands.do(action)
        except GrowthError as error:
            self._figures.did(action, result="failed")
            self._events.failed(action, error)
            raise
        self._figures.did(action, result="done")
        self._events.done(action)

    async def finish(self) -> None:
        """Show what all Hvpas say."""
        statuses = [each.status for each in self._sources.objects(HVPAS).values()]
        self._figures.show(statuses, use_problem=self._use.problem)
