"""Demand as this process knows it: a book kept from its own caches, and what the extender streams.

It follows the same changes as the views do. Which of both counts for a pod is `growth.demand`'s
rule; here it only gets its events, each with the moment at which it came.
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
    """Both books, fed by the caches and by the stream."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._books = DemandBooks()
        self._pools: dict[str, None] = {}

    def take(self, kind: str, changes: Sequence[Change[Any]]) -> None:
        """Follow a cache: ours are called by their kind, built-in ones by their plural."""
        if kind == PODS:
            for change in changes:
                self._follow_pod(change)
        elif kind == POOLS and changes:
            follow_names(self._pools, changes)
            self._books.pools(self._pools, self._now())

    def at(self, now: Instant) -> Demanded:
        """Which pods need a node at this moment."""
        return self._books.at(now)

    @property
    def resumes_at(self) -> str | None:
        """Where the stream is to go on; None: from its beginning."""
        return self._books.resumes_at

    def connected(self) -> None:
        """The stream was connected, to go on from there."""
        self._books.connected()

    def hear(self, said: Iterable[DemandChange | Bookmark | PositionExpired]) -> None:
        """The stream has said this."""
        self._books.hear(said, self._now())

    def _follow_pod(self, change: Change[Pod]) -> None:
        if change.new is not None:
            self._books.put(change.new, self._now())
        elif change.old is not None:
            self._books.remove(change.old.metadata.uid, self._now())
