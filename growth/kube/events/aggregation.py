"""What becomes of each observation: an Event now, a longer series later, or nothing.

The first observation of an object and reason is written at once and opens a window. What repeats it
within the window is only counted. When the window ends, one write tells how often it was seen and
opens the next, longer window; without a repetition the subject is forgotten. So each subject is
written once in a window at most, the last count is always told, and what is remembered follows what
happens now.

Where the budget is spent, subjects stand in line and are told when their turn comes, unless they
are old news by then. Dropping them would be simpler, but decisions are made in the same order each
time: the same few objects would always be told, and the others never.
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
    """Say something new, seen `count` times since the last write."""

    event: Event
    count: int
    observed: datetime


class Extend(msgspec.Struct, frozen=True):
    """Say that the same goes on: seen `count` times in all, `more` times since the last write."""

    event: Event
    count: int
    more: int
    observed: datetime


Write = Create | Extend


class Dropped(enum.Enum):
    """Why an observation is not told: too many wait, or its turn came too late."""

    FULL = "full"
    LATE = "late"


class AggregatedEvent(msgspec.Struct, frozen=True):
    """One subject within its window."""

    written: Event | None
    latest: Event
    observed: datetime
    seen_at: float
    count: int
    """As the API server has it."""
    more: int
    """Seen since then."""
    window: float


class Aggregation:
    """All subjects that were written a short time ago."""

    def __init__(self, limits: EventLimits, *, now: float) -> None:
        self._limits = limits
        self._budget = EventBudget(limits.per_minute, now=now)
        self._entries: dict[Subject, AggregatedEvent] = {}
        self._ends: list[tuple[float, Subject]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def observe(self, event: Event, *, now: float, wall: datetime) -> Write | Dropped | None:
        """One observation: what is to be written for it now, if anything."""
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
        """What the windows that have ended leave to be written."""
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
        write = _told(entry)
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
        """The API server has this Event already, from before a restart, with this count.

        `more` of what we have seen is not told there yet and waits for the end of the window.
        """
        entry = self._entries.get(event.subject)
        if entry is not None and entry.written == event:
            self._entries[event.subject] = msgspec.structs.replace(
                entry, count=count, more=entry.more + more
            )


def _told(entry: AggregatedEvent) -> Write:
    """An Event's words can't be changed, so new words are a new Event."""
    if entry.written is not None and event_name(entry.latest) == event_name(entry.written):
        count = entry.count + entry.more
        return Extend(entry.written, count=count, more=entry.more, observed=entry.observed)
    return Create(entry.latest, count=entry.more, observed=entry.observed)
