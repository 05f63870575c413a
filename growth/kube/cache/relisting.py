"""When the next complete list is due, and why.

A list is more work for the API server than a watch, so it needs a reason: nothing is known yet,
something may have been lost, the last list was suspicious, a write of ours hasn't appeared, or
enough time has passed.
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
    """Why a complete list is needed."""

    START = "start"
    EXPIRED = "expired"
    LOST = "lost"
    """The stream was unreadable or out of order, so events may be missing."""
    CONFIRMATION = "confirmation"
    """The last list was suspicious."""
    REFRESH = "refresh"
    """Nothing is wrong; a regular check for lost events."""
    UNSEEN = "unseen"
    """A write of ours hasn't appeared."""
    ASKED = "asked"


_OPINIONS = {ListCause.ASKED, ListCause.CONFIRMATION, ListCause.UNSEEN}


class Occasions:
    """The due times of lists for one cache."""

    def __init__(self, *, timing: CacheTiming, chance: Random, own: OwnWrites) -> None:
        self._timing = timing
        self._chance = chance
        self._own = own
        self._confirm_at = math.inf
        self._refresh_at = math.inf
        self.needed: ListCause | None = ListCause.START
        """Why a list is due now; None if it isn't."""

    @property
    def is_opinion_wanted(self) -> bool:
        """Whether the list must show the newest state, which the API server reads from etcd."""
        return self.needed in _OPINIONS

    @property
    def due(self) -> float:
        """When the next list is due, as far as is known now."""
        return _now() if self.needed is not None else self._next()[0]

    def need(self, cause: ListCause) -> None:
        """Request a list now; an earlier reason is kept."""
        # The first cause is the one to count: the others mostly follow from it.
        self.needed = self.needed or cause

    def come(self) -> None:
        """Request the list whose time has come."""
        self.need(self._next()[1])

    def doubted(self) -> None:
        """Note that the last list is suspicious: a second one, some time later, must agree."""
        self._confirm_at = _now() + self._timing.stable_interval

    def confirmed(self) -> None:
        """Note that the second list agrees."""
        self._confirm_at = math.inf

    def listed(self) -> None:
        """Note a complete list."""
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
