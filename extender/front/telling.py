"""Tells the front what it serves.

There is no queue: the front has a position in the demand book, as a reader of the stream has. If it
reads slowly, the next messages are written later and contain more; if it was away for too long, it
gets the whole book again. So a front that reads nothing costs the memory of one message.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Final, NoReturn

from extender.front.messages import (
    Afresh,
    Changes,
    Complete,
    FrontMessage,
    ToldCondition,
    ToldFamily,
    ToldFigures,
    ToldSample,
)
from growth.demand.history import EntryChange, EntryChangeKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from prometheus_client import Metric

    from extender.demand import DemandFeed
    from growth.service.context import Service
    from growth.service.settings import ServiceSettings

    Write = Callable[[FrontMessage], Awaitable[None]]
    """Returns when the front has taken the message, or nearly so."""

BEAT: Final = 0.25
"""Seconds between two messages about health, which are also the heartbeat."""
BEATS: Final = 4
"""Heartbeats between two messages with all metrics: they change less than they are read."""
PIECE: Final = 200
"""Entries in a message. A call of the scheduler waits while they are encoded, some 0.1 ms."""


class Telling:
    """What one front is told, from its start."""

    def __init__(
        self, service: Service[ServiceSettings], demand: DemandFeed, *, write: Write
    ) -> None:
        self._health = service.health
        self._registry = service.registry
        self._demand = demand
        self._write = write
        self._loop = asyncio.get_running_loop()
        self._position = ""
        """Up to where the front knows the book; "" if it knows nothing of it."""

    async def tell(self) -> NoReturn:
        """Tell everything, until cancelled."""
        for beat in itertools.count():
            await self._write(
                ToldCondition(liveness=self._health.liveness(), readiness=self._health.readiness())
            )
            if beat % BEATS == 0:
                await self._tell_figures()
            await self._tell_demand_for(BEAT)
        raise AssertionError("counting has no end")

    async def _tell_figures(self) -> None:
        families = []
        for metric in self._registry.collect():
            families.append(_told(metric))
            # Between any two of them, a call of the scheduler is answered.
            await asyncio.sleep(0)
        await self._write(ToldFigures(tuple(families)))

    async def _tell_demand_for(self, seconds: float) -> None:
        end = self._loop.time() + seconds
        while (left := end - self._loop.time()) > 0:
            if self._demand.is_complete:
                if self._position != self._demand.book.position:
                    await self._tell_demand()
                await self._demand.news(self._position, within=left)
            else:
                await asyncio.sleep(left)

    async def _tell_demand(self) -> None:
        book = self._demand.book
        changes: Iterable[EntryChange] | None = book.after(self._position)
        self._position = book.position
        if changes is None:
            await self._write(Afresh())
            entries = tuple(book.entries.values())
            changes = (EntryChange(EntryChangeKind.ADDED, entry) for entry in entries)
        pieces = iter(changes)
        while piece := tuple(itertools.islice(pieces, PIECE)):
            await self._write(Changes(piece))
        await self._write(Complete())


def _told(metric: Metric) -> ToldFamily:
    samples = tuple(ToldSample(each.name, each.labels, each.value) for each in metric.samples)
    return ToldFamily(metric.name, metric.documentation, metric.type, samples)
