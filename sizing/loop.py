"""The loop of sizing: each pass decides about all Hvpas about which something is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.service.passing import PassLoop, PassPort
from sizing.core.actions import SizingAction
from sizing.core.world import SizingWorld
from sizing.passes import sizing_pass
from sizing.settled import SettledHvpas

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sizing.core.actions import SizingSequence


class SizingLoop(PassLoop[SizingWorld, SizingAction]):
    """Decides about sizes, pass by pass; no Hvpa has two sequences."""

    def __init__(
        self, port: PassPort[SizingWorld, SizingAction], *, now: Callable[[], datetime]
    ) -> None:
        super().__init__(port, decide=self._decided, now=now)
        self._settled = SettledHvpas()

    def _decided(self, world: SizingWorld, now: datetime) -> tuple[SizingSequence, ...]:
        news = self._settled.without(world, now)
        sequences = sizing_pass(news, now)
        self._settled.learn(world, news, sequences, now)
        return sequences
