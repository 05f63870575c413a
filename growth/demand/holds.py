"""Holds of one sort: whose demand is held back, since when, and until when.

They last equally long, so the one that was begun first ends first, and a dict in the order of
beginning is all it takes. Their number is bounded, and the oldest makes room.
"""

from __future__ import annotations

import math

import msgspec

from growth.instant import Instant


class PodHold(msgspec.Struct, frozen=True, gc=False):
    """That one pod is held back."""

    begun: Instant
    version: str
    """The version of the pod that this was said of."""


class Holds:
    """Holds by the uid of the pod."""

    def __init__(self, *, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._holds: dict[str, PodHold] = {}

    def __len__(self) -> int:
        return len(self._holds)

    def get(self, uid: str) -> PodHold | None:
        """The hold on this pod."""
        return self._holds.get(uid)

    def begin(self, uid: str, *, version: str, now: Instant) -> tuple[str, ...]:
        """Holds this one from now on; the answer are those that have to make room for it."""
        self._holds.pop(uid, None)
        self._holds[uid] = PodHold(now, version)
        if len(self._holds) <= self._most:
            return ()
        oldest = next(iter(self._holds))
        del self._holds[oldest]
        return (oldest,)

    def end(self, uid: str) -> None:
        """Holds it no longer."""
        self._holds.pop(uid, None)

    def ended(self, now: Instant) -> tuple[str, ...]:
        """Takes out those whose end has come."""
        over = []
        while self.next_end <= now.monotonic:
            over.append(next(iter(self._holds)))
            del self._holds[over[-1]]
        return tuple(over)

    @property
    def next_end(self) -> float:
        """The monotonic second at which the first of them ends."""
        begun = (hold.begun.monotonic + self._seconds for hold in self._holds.values())
        return next(begun, math.inf)
