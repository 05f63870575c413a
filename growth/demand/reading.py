"""A reader's copy of the book at the other end of the stream.

It is complete from the first bookmark on. A new snapshot replaces the old entries only when it is
complete itself. An entry counts only for a while after it first arrived: by then, the reader's own
book has seen the same, or the other book was wrong. So a stream that hangs, ends or is wrong costs
seconds, and nothing has to be undone when it is lost.
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
    """The other book's entries by uid. Each change returns the uids of the pods to check again."""

    def __init__(self) -> None:
        self.position: str | None = None
        """The position to continue from; None means from the start."""
        self._entries: dict[str, DemandEntry] = {}
        self._beginning: dict[str, DemandEntry] = {}
        self._counting = Holds(seconds=FEASIBLE_SECONDS, most=MOST_HOLDS)

    @property
    def entries(self) -> Mapping[str, DemandEntry]:
        """All entries, including those that no longer count."""
        return MappingProxyType(self._entries)

    def get(self, uid: str) -> DemandEntry | None:
        """The entry of a pod, if it still counts."""
        return None if self._counting.get(uid) is None else self._entries.get(uid)

    @property
    def next_end(self) -> float:
        """The monotonic second at which the next entry stops counting."""
        return self._counting.next_end

    def settle(self, now: Instant) -> tuple[str, ...]:
        """Stop counting old entries; returns their pods."""
        return self._counting.ended(now)

    def settled(self, uid: str) -> None:
        """Stop counting the entry of a pod, because our own book has caught up."""
        self._counting.end(uid)

    def connected(self) -> None:
        """Handle a new connection, which continues from `position`."""
        self._beginning = {}

    def take(self, said: EntryChange | Bookmark | PositionExpired, now: Instant) -> Iterable[str]:
        """Handle one line of the stream."""
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
        # The same entry in a new snapshot is no news, so its time doesn't begin again.
        if self._entries.get(entry.uid) == entry:
            return ()
        self._entries[entry.uid] = entry
        displaced = self._counting.begin(entry.uid, version=entry.resource_version, now=now)
        return (entry.uid, *displaced)
