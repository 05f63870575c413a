"""Passes over Hvpas about which nothing is new.

A pass begins whenever any pod has changed, and most Hvpas have nothing to do with it. One whose
last pass came to nothing, and of which the same is seen, is decided on again only after a while:
windows, stabilisation and refusals end by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sizing.core.actions import SizingSequence
    from sizing.core.world import HvpaInWorld, SizingWorld

LOOKED_AT_AGAIN: Final = timedelta(seconds=15)
"""After this time an Hvpa is decided on although nothing has changed."""


@dataclass(frozen=True)
class _Settled:
    """An Hvpa as it was when there was nothing to do."""

    seen: HvpaInWorld
    at: datetime

    def holds(self, now_seen: HvpaInWorld, now: datetime) -> bool:
        return (
            timedelta() <= now - self.at < LOOKED_AT_AGAIN
            and self.seen.hvpa is now_seen.hvpa
            and self.seen.is_current == now_seen.is_current
            and self.seen.target == now_seen.target
        )


class SettledHvpas:
    """What was seen of Hvpas with nothing to do. Losing it costs one pass."""

    def __init__(self) -> None:
        self._known: dict[str, _Settled] = {}
        """By uid."""

    def without(self, world: SizingWorld, now: datetime) -> SizingWorld:
        """The world without them."""
        open_ = (each for each in world.hvpas if not self._is_settled(each, now))
        return replace(world, hvpas=tuple(open_))

    def _is_settled(self, each: HvpaInWorld, now: datetime) -> bool:
        known = self._known.get(each.hvpa.metadata.uid)
        return known is not None and known.holds(each, now)

    def learn(
        self,
        world: SizingWorld,
        decided: SizingWorld,
        sequences: Iterable[SizingSequence],
        now: datetime,
    ) -> None:
        """Note which of those that were decided on have nothing to do; forget what is gone."""
        busy = {sequence[0].hvpa.metadata.uid for sequence in sequences}
        known = {**self._known, **{e.hvpa.metadata.uid: _Settled(e, now) for e in decided.hvpas}}
        there = {each.hvpa.metadata.uid for each in world.hvpas} - busy
        self._known = {uid: each for uid, each in known.items() if uid in there}
