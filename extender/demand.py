"""The demand book of this process, updated by watches and by the scheduler's calls.

Readers sleep until the position of the book changes. Holds end by themselves, so a timer is set for
the next end.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from typing import TYPE_CHECKING

from extender.news import BookNews
from growth.clocks import wall_clock
from growth.demand.book import Book
from growth.demand.pools import follow_names
from growth.instant import Instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extender.protocol import PodHead
    from growth.api.nodepool import NodePool
    from growth.kube.cache.contents import Change
    from growth.scheduling.pod import Pod


class DemandFeed:
    """The book, and a way to wait for changes. Create it inside a running event loop."""

    def __init__(self) -> None:
        self.book = Book(instance=secrets.token_hex(8))
        self.is_complete = False
        """Whether all pods and pools have been read; before that, the book is incomplete."""
        self._loop = asyncio.get_running_loop()
        self._pools: dict[str, None] = {}
        self._news = BookNews(self.book)
        self._timer: asyncio.TimerHandle | None = None

    def complete(self) -> None:
        """Note that all pods and pools have been read; from now on, a missing pool is missing."""
        self.is_complete = True
        self.book.pools(self._pools, self._now())
        self._review()

    def follow_pods(self, changes: Sequence[Change[Pod]]) -> None:
        """Handle new, changed and deleted pods."""
        now = self._now()
        for change in changes:
            if change.new is not None:
                self.book.put(change.new, now)
            elif change.old is not None:
                self.book.remove(change.old.metadata.uid, now)
        self._review()

    def follow_pools(self, changes: Sequence[Change[NodePool]]) -> None:
        """Handle new and deleted pools."""
        before = frozenset(self._pools)
        follow_names(self._pools, changes)
        if self.is_complete and self._pools.keys() != before:
            self.book.pools(self._pools, self._now())
            self._review()

    def feasible(self, pod: PodHead) -> None:
        """Note that the scheduler has found a node for this version of the pod."""
        self.book.feasible(pod.uid, version=pod.resource_version, now=self._now())
        self._review()

    async def news(self, position: str, *, within: float) -> None:
        """Wait until the book has changed since a position, but no longer than `within`."""
        await self._news.after(position, within=within)

    def _settle(self) -> None:
        self._timer = None
        self.book.settle(self._now())
        self._review()

    def _review(self) -> None:
        """Wake the readers if the book has changed, and set the timer for the next hold."""
        self._news.tell()
        end = self.book.next_end
        if math.isfinite(end) and (self._timer is None or end < self._timer.when()):
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(end, self._settle)

    def _now(self) -> Instant:
        return Instant(monotonic=self._loop.time(), wall=wall_clock())
