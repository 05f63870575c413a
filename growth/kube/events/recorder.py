"""Records events without waiting for the API server.

`emit` never waits and never fails. Events go into a bounded queue that one task writes. Events that
the budget, the queue or the API server rejects are counted, and logged in one line per minute. An
event only explains; no decision depends on it, so losing one does no harm.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, deque
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from growth.clocks import wall_clock
from growth.errors import GrowthError, RetryLater
from growth.foreign_text import time_or_none
from growth.kube.events.aggregation import Aggregation, Create, Dropped, Extend, Write
from growth.kube.events.budget import EventLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.kube.events.event import Event, ObjectReference
    from growth.kube.events.metrics import EventMetrics
    from growth.kube.events.server import EventsOnServer, Known

log = structlog.get_logger()

PAUSES = (1.0, 4.0)
"""Seconds before the second and third try of a write."""
REPORT_EVERY = 60.0


class EventRecorder:
    """The events of one process."""

    def __init__(
        self,
        server: EventsOnServer,
        *,
        concerns: Callable[[ObjectReference], bool],
        metrics: EventMetrics,
        limits: EventLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = wall_clock,
    ) -> None:
        self._server = server
        self._concerns = concerns
        self._metrics = metrics
        self._limits = limits or EventLimits()
        self._clock = clock
        self._wall = wall
        self._aggregation = Aggregation(self._limits, now=clock())
        self._queue: deque[Write] = deque()
        self._arrived = asyncio.Event()
        self._dropped: Counter[str] = Counter()
        self._last_error = ""
        self._reported_at = clock()

    def emit(self, event: Event) -> None:
        """Record an event, unless it isn't for our objects, is a repetition, or exceeds a limit."""
        if not self._concerns(event.regarding):
            self._drop("foreign")
            return
        result = self._aggregation.observe(event, now=self._clock(), wall=self._wall())
        if result is not None:
            self._enqueue(result)

    def _enqueue(self, write: Write | Dropped) -> None:
        if isinstance(write, Dropped):
            self._drop(write.value)
            return
        if len(self._queue) >= self._limits.queue:
            self._drop("queue")
            return
        self._queue.append(write)
        self._arrived.set()

    def _drop(self, cause: str) -> None:
        self._metrics.dropped.labels(cause).inc()
        self._dropped[cause] += 1

    async def run(self) -> None:
        """Write events until cancelled."""
        while True:
            self._arrived.clear()
            await self._write_all()
            self._report()
            await self._pause()

    async def _write_all(self) -> None:
        for write in self._aggregation.due(self._clock()):
            self._enqueue(write)
        self._metrics.subjects.set(len(self._aggregation))
        while self._queue:
            await self._write(self._queue.popleft())
            self._report()

    async def _pause(self) -> None:
        wake_at = min(self._aggregation.wake_at, self._reported_at + REPORT_EVERY)
        # At least a second, because the budget frees single tokens in short intervals.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(wake_at - self._clock(), 1)):
                await self._arrived.wait()

    async def _write(self, write: Write) -> None:
        for pause in (*PAUSES, None):
            try:
                await self._write_once(write)
            except RetryLater as error:
                if pause is None:
                    self._failed(error)
                else:
                    await asyncio.sleep(max(pause, min(error.after or 0, REPORT_EVERY)))
            except GrowthError as error:
                self._failed(error)
                return
            else:
                self._metrics.written.inc()
                return

    def _failed(self, error: GrowthError) -> None:
        self._last_error = str(error)
        self._drop("failed")

    async def _write_once(self, write: Write) -> None:
        known = await self._server.write(write)
        if known is None:
            return
        # An earlier run of this process has written the same text: its series goes on here.
        seen = write.count if isinstance(write, Create) else write.more
        if self._is_recent(known):
            self._aggregation.adopt(write.event, count=known.count, more=seen)
            return
        count = known.count + seen
        await self._server.write(Extend(write.event, count, more=seen, observed=write.observed))
        self._aggregation.adopt(write.event, count=count, more=0)

    def _is_recent(self, known: Known) -> bool:
        """Whether an earlier run wrote it within this window, so that the update can wait."""
        last = time_or_none(known.last_time)
        if last is None:
            return False
        age = self._wall() - last
        return timedelta() <= age < timedelta(seconds=self._limits.window)

    def _report(self) -> None:
        """Log one line per minute if events were dropped."""
        if self._clock() - self._reported_at < REPORT_EVERY:
            return
        self._reported_at = self._clock()
        if self._dropped:
            log.warning("some events were dropped", **self._dropped, error=self._last_error)
        self._dropped.clear()
        self._last_error = ""
