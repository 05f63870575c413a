"""The demand book of this process: fed by the watches and by the scheduler's questions.

Whoever waits for news of it sleeps until its position moves. Holds end by themselves, so a timer is
set for the next end.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

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
    """The book, and the news of it. Made inside a running event loop."""

    def __init__(self) -> None:
        self.book = Book(instance=secrets.token_hex(8))
        self.is_complete = False
        """Whether every pod and pool was told of once; before that the book says too little."""
        self._loop = asyncio.get_running_loop()
        self._pools: dict[str, None] = {}
        self._told = self.book.position
        self._news = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def complete(self) -> None:
        """Everything that exists has been told; from now on what is missing is missing."""
        self.is_complete = True
        self.book.pools(self._pools, self._now())
        self._review()

    def follow_pods(self, changes: Sequence[Change[Pod]]) -> None:
        """Pods have come, changed or gone."""
        now = self._now()
        for change in changes:
            if change.new is not None:
                self.book.put(change.new, now)
            elif change.old is not None:
                self.book.remove(change.old.metadata.uid, now)
        self._review()

    def follow_pools(self, changes: Sequence[Change[NodePool]]) -> None:
        """Pools have come or gone."""
        before = frozenset(self._pools)
        follow_names(self._pools, changes)
        if self.is_complete and self._pools.keys() != before:
            self.book.pools(self._pools, self._now())
            self._review()

    def feasible(self, pod: PodHead) -> None:
        """The scheduler has found a node for this version of the pod."""
        self.book.feasible(pod.uid, version=pod.resource_version, now=self._now())
        self._review()

    async def news(self, position: str, *, within: float) -> None:
        """Wait until the book has moved on from a position, but not longer than this."""
        if self.book.position != position:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._news.wait()

    def _settle(self) -> None:
        self._timer = None
        self.book.settle(self._now())
        self._review()

    def _review(self) -> None:
        """Wake those who wait if the book has moved, and set the timer for its next hold."""
        if self.book.position != self._told:
            self._told = self.book.position
            self._news.set()
            self._news = asyncio.Event()
        end = self.book.next_end
        if math.isfinite(end) and (self._timer is None or end < self._timer.when()):
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(end, self._settle)

    def _now(self) -> Instant:
        return Instant(monotonic=self._loop.time(), wall=wall_clock())
