"""A cable to a server that can be cut, or that dies quietly: what goes in never arrives."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Wire:
    """Passes bytes on both ways, and knows how many callers hold it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._is_dead = False
        self._callers: set[asyncio.StreamWriter] = set()

    @property
    def callers(self) -> int:
        """Connections that the caller has not closed."""
        return len(self._callers)

    def die(self) -> None:
        """Nothing arrives any more, and nobody is told."""
        self._is_dead = True

    def cut(self) -> None:
        for caller in self._callers:
            caller.transport.abort()

    async def connect(self, reader: asyncio.StreamReader, caller: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        self._callers.add(caller)
        back = asyncio.create_task(self._pass_on(server, caller))
        try:
            await self._pass_on(reader, to_server)
        finally:
            self._callers.discard(caller)
            back.cancel()
            for writer in (caller, to_server):
                writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while piece := await reader.read(65536):
                if not self._is_dead:
                    writer.write(piece)


@asynccontextmanager
async def wire_to(port: int) -> AsyncIterator[tuple[Wire, int]]:
    """A wire to a port of this machine, and the port of its near end."""
    wire = Wire(port)
    async with await asyncio.start_server(wire.connect, "127.0.0.1", 0) as listening:
        yield wire, listening.sockets[0].getsockname()[1]
        wire.cut()
