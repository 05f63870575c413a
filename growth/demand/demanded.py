"""Combines two demand books: our own, from our cache, and the one that the extender streams.

There is no mode to switch. For each pod that waits in our cache, the entry for the later version of
the pod counts; of two entries for the same version, a hold counts. Without the stream, only the
holds are missing, and demand is seen a few milliseconds later.
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
"""If more pods than this have changed, all pods are checked again."""


class Demanded(msgspec.Struct, frozen=True):
    """The combined demand at one moment."""

    entries: Mapping[str, DemandEntry] = {}
    """The entries by uid; all of these pods are in our own cache, without a node."""
    next_end: float = math.inf
    """The monotonic second at which the next hold ends."""

    def is_demand(self, uid: str) -> bool:
        """Whether this pod needs a node now."""
        entry = self.entries.get(uid)
        return entry is not None and entry.state is State.DEMAND


def winner(
    own: DemandEntry | None, theirs: DemandEntry | None, *, version: str
) -> DemandEntry | None:
    """The entry of a pod that counts; `version` is that of the pod in our own cache."""
    if theirs is None or is_before(theirs.resource_version, version):
        return own
    if is_before(version, theirs.resource_version):
        return theirs
    if theirs.resource_version != version:
        return own  # if versions can't be compared, our own entry counts
    if own is None or (own.state is State.DEMAND and theirs.state is State.HELD):
        return theirs
    return own


class DemandBooks:
    """Both books, combined with each event."""

    def __init__(self) -> None:
        self._own = Book(instance="own")
        self._position = self._own.position
        self._theirs = DemandReading()
        self._changed: set[str] | None = set()
        """The pods to check again; None means all of them."""
        self._last = Demanded()

    def put(self, pod: Pod, now: Instant) -> None:
        """Handle a new or changed pod in our cache."""
        self._own.put(pod, now)
        self._note((pod.metadata.uid,))

    def remove(self, uid: str, now: Instant) -> None:
        """Handle a pod that is no longer in our cache."""
        self._own.remove(uid, now)
        self._note((uid,))

    def pools(self, names: Iterable[str], now: Instant) -> None:
        """Set the pools that exist."""
        self._own.pools(names, now)

    @property
    def resumes_at(self) -> str | None:
        """The position from which to continue the stream; None means from the start."""
        return self._theirs.position

    def connected(self) -> None:
        """Note that the stream is connected, and continues from `resumes_at`."""
        self._theirs.connected()

    def hear(self, said: Iterable[EntryChange | Bookmark | PositionExpired], now: Instant) -> None:
        """Handle lines of the stream."""
        for each in said:
            self._note(self._theirs.take(each, now))

    def at(self, now: Instant) -> Demanded:
        """The combined demand now."""
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
        # A set has another order in each process, and the order of entries becomes that of plans.
        for uid in sorted(touched):
            entry = self._winner(uid)
            if entry is None:
                entries.pop(uid, None)
            else:
                entries[uid] = entry
        return entries

    def _note(self, uids: Iterable[str]) -> None:
        """Remember the pods as changed."""
        # A process that isn't the leader never reads the demand, so the set must be bounded.
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
        # Our own book has caught up, so the streamed entry must not count again later.
        if entry is not theirs:
            self._theirs.settled(uid)
        return entry
