"""The two books as one: our own, kept from our cache, and the one that the extender streams.

There is no mode and nothing to switch over. For each pod that our cache shows waiting, what was
judged by the later version of the pod counts; of two judgements of one version, the one that holds
the pod back does. Without the stream only the holds are missing, and a few milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from growth.demand.book import Book
from growth.demand.entry import DemandEntry, State
from growth.demand.reading import DemandReading
from growth.kube.versions import is_before

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.demand.history import EntryChange
    from growth.demand.wire import Bookmark, PositionExpired
    from growth.instant import Instant
    from growth.scheduling.pod import Pod


MOST_CHANGED: Final = 20_000
"""Pods that are remembered as changed; beyond them all are looked at again."""


class Demanded(msgspec.Struct, frozen=True):
    """What both books say at one moment."""

    entries: Mapping[str, DemandEntry] = {}
    """By uid; each pod is one that our own cache has, without a node."""
    next_end: float = math.inf
    """The monotonic second at which this changes by itself: the end of a hold."""

    def is_demand(self, uid: str) -> bool:
        """Whether a node is to be found for this pod now."""
        entry = self.entries.get(uid)
        return entry is not None and entry.state is State.DEMAND


def winner(
    own: DemandEntry | None, theirs: DemandEntry | None, *, version: str
) -> DemandEntry | None:
    """Which of both entries of a pod counts; the version is that of the pod in our own cache."""
    if theirs is None or is_before(theirs.resource_version, version):
        return own
    if is_before(version, theirs.resource_version):
        return theirs
    if theirs.resource_version != version:
        return own  # versions that can't be compared: what we see ourselves
    if own is None or (own.state is State.DEMAND and theirs.state is State.HELD):
        return theirs
    return own


class DemandBooks:
    """Both books, kept together event by event."""

    def __init__(self) -> None:
        self._own = Book(instance="own")
        self._position = self._own.position
        self._theirs = DemandReading()
        self._changed: set[str] | None = set()
        """Pods to be looked at again; None: all of them."""
        self._last = Demanded()

    def put(self, pod: Pod, now: Instant) -> None:
        """Our cache has this pod."""
        self._own.put(pod, now)
        self._note((pod.metadata.uid,))

    def remove(self, uid: str, now: Instant) -> None:
        """Our cache has this pod no longer."""
        self._own.remove(uid, now)
        self._note((uid,))

    def pools(self, names: Iterable[str], now: Instant) -> None:
        """These are the pools that exist."""
        self._own.pools(names, now)

    @property
    def resumes_at(self) -> str | None:
        """Where the stream is to go on; None: from its beginning."""
        return self._theirs.position

    def connected(self) -> None:
        """The stream was connected, to go on from where it was said to."""
        self._theirs.connected()

    def hear(self, said: Iterable[EntryChange | Bookmark | PositionExpired], now: Instant) -> None:
        """The stream has said this."""
        for each in said:
            self._note(self._theirs.take(each, now))

    def at(self, now: Instant) -> Demanded:
        """What both say now."""
        self._own.settle(now)
        self._note(self._theirs.settle(now))
        entries = self._merged()
        next_end = min(self._own.next_end, self._theirs.next_end)
        if entries is not self._last.entries or next_end != self._last.next_end:
            self._last = Demanded(entries, next_end)
        return self._last

    def _merged(self) -> Mapping[str, DemandEntry]:
        touched = self._touched()
        if not touched:
            return self._last.entries
        entries = dict(self._last.entries)
        for uid in sorted(touched):
            entry = self._winner(uid)
            if entry is None:
                entries.pop(uid, None)
            else:
                entries[uid] = entry
        return entries

    def _note(self, uids: Iterable[str]) -> None:
        """A process that stands by for long never looks, so what it remembers has to end."""
        if self._changed is not None:
            self._changed.update(uids)
            if len(self._changed) > MOST_CHANGED:
                self._changed = None

    def _touched(self) -> set[str]:
        changes = self._own.after(self._position)
        self._position = self._own.position
        touched, self._changed = self._changed, set()
        if changes is None or touched is None:
            return {*self._last.entries, *self._own.entries, *self._theirs.entries}
        return touched.union(change.entry.uid for change in changes)

    def _winner(self, uid: str) -> DemandEntry | None:
        version = self._own.version(uid)
        if version is None:
            return None
        theirs = self._theirs.get(uid)
        entry = winner(self._own.entries.get(uid), theirs, version=version)
        if entry is not theirs:
            self._theirs.settled(uid)
        return entry
