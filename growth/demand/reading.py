"""What a reader has of the book at the other end of a stream.

It is whole from the first bookmark on, and a new beginning takes the place of what was known only
when it is whole itself. A line counts for a while after it was heard first: by then the reader's
own book has seen what the other has seen, or the other was wrong. So a stream that hangs, ends for
good or lies costs seconds, and nothing has to be undone when it is lost.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, assert_never

from growth.demand.evidence import FEASIBLE_SECONDS, MOST_HOLDS
from growth.demand.history import EntryChange, EntryChangeKind
from growth.demand.holds import Holds
from growth.demand.wire import Bookmark, PositionExpired

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.demand.entry import DemandEntry
    from growth.instant import Instant


class DemandReading:
    """Entries by uid as the other book has them. Each change answers with the uids it touches."""

    def __init__(self) -> None:
        self.position: str | None = None
        """Where to go on; None: from the beginning."""
        self._entries: dict[str, DemandEntry] = {}
        self._beginning: dict[str, DemandEntry] = {}
        self._counting = Holds(seconds=FEASIBLE_SECONDS, most=MOST_HOLDS)

    @property
    def entries(self) -> Mapping[str, DemandEntry]:
        """All that was said, also what doesn't count any more."""
        return MappingProxyType(self._entries)

    def get(self, uid: str) -> DemandEntry | None:
        """What counts about this pod."""
        return None if self._counting.get(uid) is None else self._entries.get(uid)

    @property
    def next_end(self) -> float:
        """The monotonic second at which the next line ceases to count."""
        return self._counting.next_end

    def settle(self, now: Instant) -> tuple[str, ...]:
        """Lines that were heard long enough ago count no longer."""
        return self._counting.ended(now)

    def settled(self, uid: str) -> None:
        """The reader sees as much itself: what was said of this pod counts no longer."""
        self._counting.end(uid)

    def connected(self) -> None:
        """A connection was made; where it goes on was said with `position`."""
        self._beginning = {}

    def take(self, said: EntryChange | Bookmark | PositionExpired, now: Instant) -> Iterable[str]:
        """One line of the stream."""
        match said:
            case EntryChange() if self.position is None:
                self._begin(said)
                return ()
            case EntryChange():
                return self._follow(said, now)
            case Bookmark():
                return self._reach(said.position, now)
            case PositionExpired():
                self.position = None
                return ()
            case _:
                assert_never(said)

    def _begin(self, change: EntryChange) -> None:
        if change.kind is EntryChangeKind.DELETED:
            self._beginning.pop(change.entry.uid, None)
        else:
            self._beginning[change.entry.uid] = change.entry

    def _reach(self, position: str, now: Instant) -> Iterable[str]:
        touched: list[str] = []
        if self.position is None:
            touched.extend(self._forget(self._entries.keys() - self._beginning.keys()))
            for entry in self._beginning.values():
                touched.extend(self._write(entry, now))
            self._beginning = {}
        self.position = position
        return touched

    def _follow(self, change: EntryChange, now: Instant) -> Iterable[str]:
        if change.kind is EntryChangeKind.DELETED:
            return self._forget((change.entry.uid,))
        return self._write(change.entry, now)

    def _forget(self, uids: Iterable[str]) -> list[str]:
        known = sorted(uid for uid in uids if uid in self._entries)
        for uid in known:
            del self._entries[uid]
            self._counting.end(uid)
        return known

    def _write(self, entry: DemandEntry, now: Instant) -> Iterable[str]:
        """The same line again, after a new beginning, is no news and counts no longer for it."""
        if self._entries.get(entry.uid) == entry:
            return ()
        self._entries[entry.uid] = entry
        displaced = self._counting.begin(entry.uid, version=entry.resource_version, now=now)
        return (entry.uid, *displaced)
