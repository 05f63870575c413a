"""A way to the API server that can be made to hang: it accepts, keeps open, and says nothing."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class PausingProxy:
    """Forwards TCP while `open` is set."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.open = asyncio.Event()
        self.open.set()
        self.used = asyncio.Event()
        self.port = 0

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[PausingProxy]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.used.set()
        await self.open.wait()
        upstream, downstream = await asyncio.open_connection("127.0.0.1", self._port)
        with contextlib.closing(writer), contextlib.closing(downstream):
            ways = (self._forward(reader, downstream), self._forward(upstream, writer))
            tasks = [asyncio.create_task(way) for way in ways]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while some := await reader.read(65536):
                await self.open.wait()
                writer.write(some)
                await writer.drain()
