"""Holds of one kind: which pods are on hold, since when, and until when.

All of them have the same length, so they end in the order in which they began, and a dict in that
order is enough. Their number is bounded; the oldest hold is dropped for a new one.
"""

from __future__ import annotations

import math

import msgspec

from growth.instant import Instant


class PodHold(msgspec.Struct, frozen=True, gc=False):
    """The hold on one pod."""

    begun: Instant
    version: str
    """The version of the pod that the hold is based on."""


class Holds:
    """Holds by the uid of the pod."""

    def __init__(self, *, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._holds: dict[str, PodHold] = {}

    def __len__(self) -> int:
        return len(self._holds)

    def get(self, uid: str) -> PodHold | None:
        """The hold on a pod, if there is one."""
        return self._holds.get(uid)

    def begin(self, uid: str, *, version: str, now: Instant) -> tuple[str, ...]:
        """Begin a hold; returns the pods whose holds are dropped for it."""
        # Removed first, so that a renewed hold moves to the end of the dict.
        self._holds.pop(uid, None)
        self._holds[uid] = PodHold(now, version)
        if len(self._holds) <= self._most:
            return ()
        oldest = next(iter(self._holds))
        del self._holds[oldest]
        return (oldest,)

    def end(self, uid: str) -> None:
        """End the hold on a pod."""
        self._holds.pop(uid, None)

    def ended(self, now: Instant) -> tuple[str, ...]:
        """End the holds that have expired; returns their pods."""
        over = []
        while self.next_end <= now.monotonic:
            over.append(next(iter(self._holds)))
            del self._holds[over[-1]]
        return tuple(over)

    @property
    def next_end(self) -> float:
        """The monotonic second at which the next hold ends."""
        begun = (hold.begun.monotonic + self._seconds for hold in self._holds.values())
        return next(begun, math.inf)
