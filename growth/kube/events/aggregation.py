"""Decides what each observation becomes: an Event now, a longer series later, or nothing.

The first observation of a subject (an object and a reason) is written at once and opens a window.
Repetitions within the window are only counted. When the window ends, one write updates the count
and opens the next, longer window; without a repetition the subject is forgotten. So each subject is
written at most once per window, the last count is always written, and memory depends only on what
is happening now.

If the budget is used up, subjects wait for their turn, and are dropped only if they are too old by
then. Dropping them at once would be simpler. But decisions are made in the same order each time, so
the same few objects would always get events, and the others never.
"""

from __future__ import annotations

import enum
import heapq
from datetime import datetime

import msgspec

from growth.kube.events.budget import EventBudget, EventLimits
from growth.kube.events.event import Event, event_name

Subject = tuple[str, ...]


class Create(msgspec.Struct, frozen=True):
    """Create an Event, observed `count` times."""

    event: Event
    count: int
    observed: datetime


class Extend(msgspec.Struct, frozen=True):
    """Update an Event: observed `count` times in total, `more` times since the last write."""

    event: Event
    count: int
    more: int
    observed: datetime


Write = Create | Extend


class Dropped(enum.Enum):
    """Why an observation is dropped: too many subjects are waiting, or it is too old."""

    FULL = "full"
    LATE = "late"


class AggregatedEvent(msgspec.Struct, frozen=True):
    """One subject within its window."""

    written: Event | None
    latest: Event
    observed: datetime
    seen_at: float
    count: int
    """The count in the API server."""
    more: int
    """Observations since then."""
    window: float


class Aggregation:
    """The subjects with an open window."""

    def __init__(self, limits: EventLimits, *, now: float) -> None:
        self._limits = limits
        self._budget = EventBudget(limits.per_minute, now=now)
        self._entries: dict[Subject, AggregatedEvent] = {}
        self._ends: list[tuple[float, Subject]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def observe(self, event: Event, *, now: float, wall: datetime) -> Write | Dropped | None:
        """Add an observation; returns what to write for it now, if anything."""
        subject = event.subject
        entry = self._entries.get(subject)
        if entry is not None:
            self._entries[subject] = msgspec.structs.replace(
                entry, latest=event, observed=wall, seen_at=now, more=entry.more + 1
            )
            return None
        if len(self._entries) >= self._limits.subjects:
            return Dropped.FULL
        window = self._limits.window
        new = AggregatedEvent(
            None, event, observed=wall, seen_at=now, count=0, more=1, window=window
        )
        return self._turn(subject, new, now=now)

    @property
    def wake_at(self) -> float:
        """When the next window ends."""
        return self._ends[0][0] if self._ends else float("inf")

    def due(self, now: float) -> list[Write | Dropped]:
        """What to write for the windows that have ended."""
        writes = []
        while self._ends and self._ends[0][0] <= now:
            _, subject = heapq.heappop(self._ends)
            write = self._ended(subject, now=now)
            if write is not None:
                writes.append(write)
        return writes

    def _ended(self, subject: Subject, *, now: float) -> Write | Dropped | None:
        entry = self._entries[subject]
        is_late = now - entry.seen_at > self._limits.longest_window
        if entry.more and not is_late:
            return self._take(subject, entry, now=now)
        del self._entries[subject]
        return Dropped.LATE if entry.more else None

    def _turn(self, subject: Subject, entry: AggregatedEvent, *, now: float) -> Write | None:
        if self._budget.has_a_line(subject[-1], now=now):
            self._wait(subject, entry, now=now)
            return None
        return self._take(subject, entry, now=now)

    def _take(self, subject: Subject, entry: AggregatedEvent, *, now: float) -> Write | None:
        if not self._budget.take(subject[-1], now=now):
            self._wait(subject, entry, now=now)
            return None
        write = _write_of(entry)
        self._entries[subject] = msgspec.structs.replace(
            entry,
            written=entry.latest,
            count=write.count,
            more=0,
            window=min(entry.window * 2, self._limits.longest_window),
        )
        heapq.heappush(self._ends, (now + entry.window, subject))
        return write

    def _wait(self, subject: Subject, entry: AggregatedEvent, *, now: float) -> None:
        self._entries[subject] = entry
        heapq.heappush(self._ends, (self._budget.slot(subject[-1], now=now), subject))

    def adopt(self, event: Event, *, count: int, more: int) -> None:
        """Continue an Event that exists already, from before a restart, with this count.

        `more` observations aren't in it yet; they are written at the end of the window.
        """
        entry = self._entries.get(event.subject)
        if entry is not None and entry.written == event:
            self._entries[event.subject] = msgspec.structs.replace(
                entry, count=count, more=entry.more + more
            )


def _write_of(entry: AggregatedEvent) -> Write:
    """The write for a subject; a changed text needs a new Event, because Events are immutable."""
    if entry.written is not None and event_name(entry.latest) == event_name(entry.written):
        count = entry.count + entry.more
        return Extend(entry.written, count=count, more=entry.more, observed=entry.observed)
    return Create(entry.latest, count=entry.more, observed=entry.observed)
