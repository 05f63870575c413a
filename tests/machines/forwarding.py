"""The way from the servers to the API server, which listens on this machine's loopback only."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator

_CHUNK: Final = 1 << 16


@contextlib.asynccontextmanager
async def forwarding(listener: socket.socket, port: int) -> AsyncIterator[None]:
    """Connect all that arrives at a socket with a port of this machine."""
    server = await asyncio.start_server(partial(_connect, port), sock=listener)
    try:
        yield
    finally:
        server.close()


async def _connect(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        onwards, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_copy(reader, back), _copy(onwards, writer))
    writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    except OSError:
        # The other end is told by the close below.
        pass
    finally:
        writer.close()
