"""The demand as this process knows it: the book from its own caches, and the extender's stream.

It follows the same changes as the views. Which book counts for a pod is decided in `growth.demand`;
this module only passes on events, with their time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from growth.api.nodepool import NodePool
from growth.demand.demanded import DemandBooks
from growth.demand.pools import follow_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from growth.demand.demanded import Demanded
    from growth.demand.history import EntryChange as DemandChange
    from growth.demand.wire import Bookmark, PositionExpired
    from growth.instant import Instant
    from growth.kube.cache.contents import Change
    from growth.scheduling.pod import Pod

PODS = "pods"
POOLS = NodePool.__name__


class KnownDemand:
    """Both books, updated by the caches and by the stream."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._books = DemandBooks()
        self._pools: dict[str, None] = {}

    def take(self, kind: str, changes: Sequence[Change[Any]]) -> None:
        """Handle changes of a cache; it is named by kind if it is ours, otherwise by plural."""
        if kind == PODS:
            for change in changes:
                self._follow_pod(change)
        elif kind == POOLS and changes:
            follow_names(self._pools, changes)
            self._books.pools(self._pools, self._now())

    def at(self, now: Instant) -> Demanded:
        """The demand at this time."""
        return self._books.at(now)

    @property
    def resumes_at(self) -> str | None:
        """The position from which to continue the stream; None means from the start."""
        return self._books.resumes_at

    def connected(self) -> None:
        """Note that the stream is connected, and continues from `resumes_at`."""
        self._books.connected()

    def hear(self, said: Iterable[DemandChange | Bookmark | PositionExpired]) -> None:
        """Handle lines of the stream."""
        self._books.hear(said, self._now())

    def _follow_pod(self, change: Change[Pod]) -> None:
        if change.new is not None:
            self._books.put(change.new, self._now())
        elif change.old is not None:
            self._books.remove(change.old.metadata.uid, self._now())
