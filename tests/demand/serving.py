"""A server of the demand stream that misbehaves as it is told to."""

from __future__ import annotations

import asyncio
import enum
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

from growth.demand import wire
from tests.demand.build import book

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.demand.book import Book


class Mood(enum.Enum):
    """What the server does with a reader."""

    FOLLOW = enum.auto()
    CUT_IN_A_LINE = enum.auto()
    CUT_IN_THE_BEGINNING = enum.auto()
    END = enum.auto()
    HANG_BEFORE_ITS_ANSWER = enum.auto()
    HANG = enum.auto()
    DRIP = enum.auto()
    RUBBISH = enum.auto()
    RUBBISH_LATER = enum.auto()
    REFUSE = enum.auto()
    REDIRECT = enum.auto()
    FAIL = enum.auto()


class Scripted:
    """One server over one book; both can be exchanged while readers read."""

    def __init__(self) -> None:
        self.book: Book = book()
        self.moods: list[Mood] = []
        """For the next readers; those after them are followed."""
        self.asked: list[str | None] = []
        """The position that each reader has said."""
        self.url = ""
        self._readers: set[asyncio.Task[None] | None] = set()

    def cut_all(self) -> None:
        """Every connection breaks now."""
        for reader in self._readers:
            if reader is not None:
                reader.cancel()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.query.get("resourceVersion"))
        mood = self.moods.pop(0) if self.moods else Mood.FOLLOW
        match mood:
            case Mood.HANG_BEFORE_ITS_ANSWER:
                await asyncio.sleep(3600)
            case Mood.REFUSE:
                return web.Response(status=503, headers={"Retry-After": "0"})
            case Mood.REDIRECT:
                raise web.HTTPFound("http://127.0.0.1:1/elsewhere")
            case _:
                pass
        response = web.StreamResponse()
        await response.prepare(request)
        task = asyncio.current_task()
        self._readers.add(task)
        try:
            await self._serve(mood, request, response)
        finally:
            self._readers.discard(task)
        return response

    async def _serve(self, mood: Mood, request: web.Request, response: web.StreamResponse) -> None:
        position = request.query.get("resourceVersion")
        served = self.book
        lines = wire.opening(served) if position is None else wire.following(served, position)
        match mood:
            case Mood.END:
                return
            case Mood.RUBBISH:
                lines = [b"rubbish\n"]
            case Mood.CUT_IN_THE_BEGINNING:
                lines = lines[:1]
            case Mood.CUT_IN_A_LINE:
                lines = [*lines[:-1], lines[-1][:9]]
            case Mood.DRIP:
                await _drip(response)
            case _:
                pass
        await response.write(b"".join(lines))
        match mood:
            case Mood.CUT_IN_A_LINE | Mood.CUT_IN_THE_BEGINNING:
                assert request.transport is not None
                request.transport.abort()
            case Mood.HANG:
                await asyncio.sleep(3600)
            case Mood.FAIL:
                await response.write(b'{"type":"ERROR","object":{"code":500,"message":"no"}}\n')
            case Mood.RUBBISH_LATER:
                await asyncio.sleep(0.3)  # so that it comes in a piece of its own
                await response.write(b'{"type":"ADDED","object":{}}\n')
            case _:
                await self._follow(served, response)

    async def _follow(self, served: Book, response: web.StreamResponse) -> None:
        position = served.position
        while served.after(position) is not None:
            await asyncio.sleep(0.02)
            lines = wire.following(served, position)
            position = served.position
            await response.write(b"".join(lines))


async def _drip(response: web.StreamResponse) -> None:
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.05)


@asynccontextmanager
async def serving() -> AsyncIterator[Scripted]:
    """The server on a free port."""
    scripted = Scripted()
    application = web.Application()
    application.add_routes([web.get(wire.PATH, scripted.answer)])
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        scripted.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield scripted
    finally:
        await runner.cleanup()
