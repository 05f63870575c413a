"""When the next whole list is due, and why.

A list costs the API server more than a watch, so there has to be an occasion: nothing is known yet,
something may have been lost, a list was too strange to be believed alone, a write of ours has not
shown up, or just that much time has passed.
"""

from __future__ import annotations

import asyncio
import enum
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from growth.kube.cache.own_writes import OwnWrites
    from growth.kube.cache.timing import CacheTiming


class ListCause(enum.Enum):
    """Why a whole list is needed instead of going on from where we were."""

    START = "start"
    EXPIRED = "expired"
    LOST = "lost"
    """Something was garbled, or came out of order: events may be missing."""
    CONFIRMATION = "confirmation"
    """The last one was suspicious."""
    REFRESH = "refresh"
    """Nothing is wrong; it is time to look whether an event was lost."""
    UNSEEN = "unseen"
    """A write of ours has not shown up."""
    ASKED = "asked"


_OPINIONS = {ListCause.ASKED, ListCause.CONFIRMATION, ListCause.UNSEEN}


class Occasions:
    """The occasions of one cache."""

    def __init__(self, *, timing: CacheTiming, chance: Random, own: OwnWrites) -> None:
        self._timing = timing
        self._chance = chance
        self._own = own
        self._confirm_at = math.inf
        self._refresh_at = math.inf
        self.needed: ListCause | None = ListCause.START
        """Why a list is due now, if one is."""

    @property
    def is_opinion_wanted(self) -> bool:
        """Whether only the newest state will do, which the API server has to ask its store for."""
        return self.needed in _OPINIONS

    @property
    def due(self) -> float:
        """When the next list is wanted, as far as is known now."""
        return _now() if self.needed is not None else self._next()[0]

    def need(self, cause: ListCause) -> None:
        """A list is due; what was the first reason stays it."""
        self.needed = self.needed or cause

    def come(self) -> None:
        """The time that was due is here."""
        self.need(self._next()[1])

    def doubted(self) -> None:
        """The list that came is suspicious: a second one has to agree, some time later."""
        self._confirm_at = _now() + self._timing.stable_interval

    def confirmed(self) -> None:
        """The second one did."""
        self._confirm_at = math.inf

    def listed(self) -> None:
        """A whole list was taken in."""
        self.needed = None
        self._refresh_at = _now() + self._chance.uniform(*self._timing.refresh)

    def _next(self) -> tuple[float, ListCause]:
        return min(
            (self._confirm_at, ListCause.CONFIRMATION),
            (self._own.looked_for_at(patience=self._timing.own_write), ListCause.UNSEEN),
            (self._refresh_at, ListCause.REFRESH),
            key=lambda occasion: occasion[0],
        )


def _now() -> float:
    return asyncio.get_running_loop().time()
