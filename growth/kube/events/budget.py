"""How many events may be written: a bucket of tokens for all, and one for each reason.

A bucket holds half of what a minute may bring and gets the other half in a minute, so no minute
ever sees more, wherever it begins. One reason may use half of everything: a thousand pods without a
place must not drown the one machine that can't be removed.
"""

from __future__ import annotations

import msgspec


class EventLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What is written at most, and what is remembered at most."""

    per_minute: int = 120
    """For the whole process; one reason may use half of it."""
    window: float = 300
    """Seconds in which one object and reason is written once."""
    longest_window: float = 1800
    """What goes on for hours is told more and more seldom, but before the API server's hour ends
    in which it would forget the Event."""
    subjects: int = 5000
    """Objects and reasons that are remembered at the same time."""
    queue: int = 256
    """Writes that wait while the API server is slow."""


class Bucket(msgspec.Struct, frozen=True):
    """Tokens at a time; taking one gives the next bucket."""

    size: float
    per_second: float
    tokens: float
    filled_at: float

    def at(self, now: float) -> Bucket:
        """The same bucket later. A clock that stands still or goes back fills nothing."""
        tokens = self.tokens + max(now - self.filled_at, 0) * self.per_second
        return msgspec.structs.replace(self, tokens=min(tokens, self.size), filled_at=now)

    def taken(self) -> Bucket:
        """The bucket with one token less."""
        return msgspec.structs.replace(self, tokens=self.tokens - 1)

    def ready_at(self) -> float:
        """When a whole token will be there."""
        return self.filled_at + max(1 - self.tokens, 0) / self.per_second


def bucket_for(per_minute: float, *, now: float) -> Bucket:
    """A full bucket that never gives more than this in any minute."""
    half = per_minute / 2
    return Bucket(size=half, per_second=half / 60, tokens=half, filled_at=now)


class EventBudget:
    """The tokens of one process. Reasons are few: they are a closed set in the code."""

    def __init__(self, per_minute: int, *, now: float) -> None:
        self._per_minute = per_minute
        self._all = bucket_for(per_minute, now=now)
        self._of_reason: dict[str, Bucket] = {}
        self._slots: dict[str, float] = {}

    def take(self, reason: str, *, now: float) -> bool:
        """Whether one more may be written now; if so, it is counted."""
        all_, own = self._at(reason, now=now)
        if all_.tokens < 1 or own.tokens < 1:
            return False
        self._all, self._of_reason[reason] = all_.taken(), own.taken()
        return True

    def has_a_line(self, reason: str, *, now: float) -> bool:
        """Whether others wait already, who come first."""
        return self._slots.get(reason, now) > now

    def slot(self, reason: str, *, now: float) -> float:
        """When to ask again: each who waits gets a later time, so that not all come at once."""
        all_, own = self._at(reason, now=now)
        after_the_last = self._slots.get(reason, now) + 1 / own.per_second
        self._slots[reason] = max(all_.ready_at(), own.ready_at(), after_the_last)
        return self._slots[reason]

    def _at(self, reason: str, *, now: float) -> tuple[Bucket, Bucket]:
        own = self._of_reason.get(reason) or bucket_for(self._per_minute / 2, now=now)
        return self._all.at(now), own.at(now)
