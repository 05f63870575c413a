"""`GET /v1/demand`: the book as one document, or with `?watch=true` as it moves.

Each reader has a position in the book and nothing else: no queue is kept for it. So a slow one
costs no memory, and it skips nothing: what it gets next is all that has happened since its last
line. One that takes nothing at all is cut off; when it comes back it says its position and goes on
there, or is told to begin anew.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import structlog
from aiohttp import web
from prometheus_client import Counter, Gauge

from growth.demand import wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client import CollectorRegistry

    from extender.demand import DemandFeed

MOST_READERS: Final = 32
"""One reconciler reads at a time; the others are candidates and people who look."""
PATIENCE: Final = 10.0
"""Seconds that a reader may take for one piece before it is cut off."""
PIECE: Final = 65_536
"""Bytes that are handed to the network at once."""
_HEADERS: Final = {"Content-Type": wire.CONTENT_TYPE, "Cache-Control": "no-store"}

_log = structlog.get_logger(__name__)


class ServedStreamMetrics:
    """What is counted of the stream."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.pods = Gauge(
            "growth_demand_pods", "Pods in the demand book, held back or not", registry=registry
        )
        self.readers = Gauge(
            "growth_demand_stream_readers", "Who reads the demand right now", registry=registry
        )
        self.lines = Counter(
            "growth_demand_stream_lines", "Lines written to all readers", registry=registry
        )
        self.cut_off = Counter(
            "growth_demand_stream_cut_off",
            "Readers that took nothing for too long and were cut off",
            registry=registry,
        )


class Streaming:
    """What answers about the demand."""

    def __init__(
        self, demand: DemandFeed, metrics: ServedStreamMetrics, *, patience: float = PATIENCE
    ) -> None:
        self._demand = demand
        self._metrics = metrics
        self._patience = patience
        self._readers = 0
        metrics.pods.set_function(lambda: len(demand.book.entries))
        metrics.readers.set_function(lambda: self._readers)

    def application(self) -> web.Application:
        """What listens to the reconciler."""
        application = web.Application()
        application.add_routes([web.get(wire.PATH, self.answer)])
        return application

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """The whole book, and with `?watch=true` what becomes of it."""
        if not self._demand.is_complete:
            return _refusal(503, "the caches are not complete yet", again_after=1)
        if request.query.get("watch") not in {"true", "1"}:
            return web.Response(body=wire.snapshot(self._demand.book), headers=_HEADERS)
        if self._readers >= MOST_READERS:
            return _refusal(429, f"{MOST_READERS} are reading already", again_after=5)
        self._readers += 1
        try:
            return await self._stream(request)
        finally:
            self._readers -= 1

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers=_HEADERS)
        await response.prepare(request)
        try:
            await self._follow(request.query.get("resourceVersion", ""), response)
        except TimeoutError:
            self._metrics.cut_off.inc()
            _log.warning("a reader of the demand is cut off", reader=request.remote)
            if request.transport is not None:
                request.transport.abort()
        return response

    async def _follow(self, position: str, response: web.StreamResponse) -> None:
        book = self._demand.book
        lines = wire.following(book, position) if position else wire.opening(book)
        while not position or book.after(position) is not None:
            position = book.position
            await self._write(lines, response)
            await self._demand.news(position, within=wire.BOOKMARK_SECONDS)
            lines = wire.following(book, position)
        await self._write(lines, response)

    async def _write(self, lines: Iterable[bytes], response: web.StreamResponse) -> None:
        for piece, count in _pieces(lines):
            async with asyncio.timeout(self._patience):
                await response.write(piece)
            self._metrics.lines.inc(count)


def _pieces(lines: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Many lines at once, since each piece costs a call to the system; with their number."""
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= PIECE:
            yield b"".join(gathered), len(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered), len(gathered)


def _refusal(status: int, text: str, *, again_after: int) -> web.Response:
    headers = {"Retry-After": str(again_after)}
    return web.Response(status=status, text=f"{text}\n", headers=headers)
