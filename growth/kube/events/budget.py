"""Limits the number of events: a token bucket for all of them, and one for each reason.

A bucket holds half of the limit per minute and gains the other half within a minute, so no minute
exceeds the limit, wherever it begins. One reason may use only half of the total: a thousand pods
without a place must not hide the one machine that can't be removed.
"""

from __future__ import annotations

import msgspec


class EventLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on what is written and what is remembered."""

    per_minute: int = 120
    """Events of the whole process; one reason may use half of it."""
    window: float = 300
    """Seconds in which each object and reason is written once."""
    longest_window: float = 1800
    """Windows get longer up to this. It is below the hour after which the API server deletes an
    Event."""
    subjects: int = 5000
    """The most objects and reasons that are remembered."""
    queue: int = 256
    """The most writes that wait for a slow API server."""


class Bucket(msgspec.Struct, frozen=True):
    """A token bucket at one time; taking a token returns a new bucket."""

    size: float
    per_second: float
    tokens: float
    filled_at: float

    def at(self, now: float) -> Bucket:
        """The same bucket later; a clock that stands still or goes back adds nothing."""
        tokens = self.tokens + max(now - self.filled_at, 0) * self.per_second
        return msgspec.structs.replace(self, tokens=min(tokens, self.size), filled_at=now)

    def taken(self) -> Bucket:
        """The bucket with one token less."""
        return msgspec.structs.replace(self, tokens=self.tokens - 1)

    def ready_at(self) -> float:
        """When the next token is available."""
        return self.filled_at + max(1 - self.tokens, 0) / self.per_second


def bucket_for(per_minute: float, *, now: float) -> Bucket:
    """A full bucket that gives at most this many tokens in any minute."""
    half = per_minute / 2
    return Bucket(size=half, per_second=half / 60, tokens=half, filled_at=now)


class EventBudget:
    """The buckets of one process. There are few reasons: they are a closed set in the code."""

    def __init__(self, per_minute: int, *, now: float) -> None:
        self._per_minute = per_minute
        self._all = bucket_for(per_minute, now=now)
        self._of_reason: dict[str, Bucket] = {}
        self._slots: dict[str, float] = {}

    def take(self, reason: str, *, now: float) -> bool:
        """Take a token if there is one; returns whether an event may be written now."""
        all_, own = self._at(reason, now=now)
        if all_.tokens < 1 or own.tokens < 1:
            return False
        self._all, self._of_reason[reason] = all_.taken(), own.taken()
        return True

    def has_a_line(self, reason: str, *, now: float) -> bool:
        """Whether other subjects with this reason are already waiting."""
        return self._slots.get(reason, now) > now

    def slot(self, reason: str, *, now: float) -> float:
        """When to try again; each caller gets a later time, so that they don't come at once."""
        all_, own = self._at(reason, now=now)
        after_the_last = self._slots.get(reason, now) + 1 / own.per_second
        self._slots[reason] = max(all_.ready_at(), own.ready_at(), after_the_last)
        return self._slots[reason]

    def _at(self, reason: str, *, now: float) -> tuple[Bucket, Bucket]:
        own = self._of_reason.get(reason) or bucket_for(self._per_minute / 2, now=now)
        return self._all.at(now), own.at(now)
