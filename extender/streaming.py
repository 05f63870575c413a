"""`GET /v1/demand`: the book as one document, or with `?watch=true` as a stream of changes.

A reader has only a position in the book, and no queue. So a slow reader costs no memory and misses
nothing: it next gets all changes since its last line. A reader that doesn't read at all is
disconnected. When it reconnects, it continues from its position, or has to start again.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

import structlog
from aiohttp import web
from prometheus_client import Counter, Gauge

from growth.demand import wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client import CollectorRegistry

MOST_READERS: Final = 32
"""Reconcilers, and people who look at the demand."""
PATIENCE: Final = 10.0
"""Seconds that a reader may take for one piece before it is disconnected."""
PIECE: Final = 65_536
"""Bytes that are written at once."""
_HEADERS: Final = {"Content-Type": wire.CONTENT_TYPE, "Cache-Control": "no-store"}

_log = structlog.get_logger(__name__)


class PublishedDemand(Protocol):
    """The demand that is served."""

    @property
    def book(self) -> wire.ToldBook:
        """The book."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the book is complete."""
        ...

    async def news(self, position: str, *, within: float) -> None:
        """Wait until the book has changed since a position, but no longer than `within`."""
        ...


class ServedStreamMetrics:
    """The metrics of the stream."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.pods = Gauge(
            "growth_demand_pods", "Pods in the demand book, also those on hold", registry=registry
        )
        self.readers = Gauge(
            "growth_demand_stream_readers", "Connected readers of the demand", registry=registry
        )
        self.lines = Counter(
            "growth_demand_stream_lines", "Lines written to all readers", registry=registry
        )
        self.cut_off = Counter(
            "growth_demand_stream_cut_off",
            "Readers that were disconnected because they read nothing for too long",
            registry=registry,
        )


class Streaming:
    """Answers requests for the demand."""

    def __init__(
        self, demand: PublishedDemand, metrics: ServedStreamMetrics, *, patience: float = PATIENCE
    ) -> None:
        self._demand = demand
        self._metrics = metrics
        self._patience = patience
        self._readers = 0
        metrics.pods.set_function(lambda: len(demand.book.entries))
        metrics.readers.set_function(lambda: self._readers)

    def application(self) -> web.Application:
        """The application that serves the demand."""
        application = web.Application()
        application.add_routes([web.get(wire.PATH, self.answer)])
        return application

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Send the whole book, and with `?watch=true` its changes."""
        if not self._demand.is_complete:
            return _refusal(503, "the caches are not complete yet", again_after=1)
        if request.query.get("watch") not in {"true", "1"}:
            return web.Response(body=wire.snapshot(self._demand.book), headers=_HEADERS)
        if self._readers >= MOST_READERS:
            return _refusal(429, f"there are already {MOST_READERS} readers", again_after=5)
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
            _log.warning("disconnected a slow reader of the demand", reader=request.remote)
            # Aborted, because the end of the response couldn't be written either.
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
    """The lines in large pieces, each with their number, because each piece is a system call."""
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
