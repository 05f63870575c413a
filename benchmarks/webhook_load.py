"""Reviews at a steady rate, each sent at its time, whether earlier ones were answered or not.

A client that waits for each answer before it sends the next would send fewer reviews to a slow
server. So a review's time counts from when it was due.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

from webhooks.registration.names import PATH

if TYPE_CHECKING:
    from pathlib import Path


async def latencies(
    body: bytes, *, port: int, authority: Path, connections: int, rate: int, seconds: float
) -> list[float]:
    """Seconds from when each review was due to its whole answer, after a second of warm-up."""
    tls = ssl.create_default_context(cafile=str(authority))
    callers = [await _Caller.of(body, port=port, tls=tls) for _ in range(connections)]
    interval = connections / rate
    await _in_turns(callers, interval=interval, count=round(min(1.0, seconds) / interval))
    measured = await _in_turns(callers, interval=interval, count=round(seconds / interval))
    for caller in callers:
        await caller.close()
    return measured


async def _in_turns(callers: list[_Caller], *, interval: float, count: int) -> list[float]:
    begin = asyncio.get_running_loop().time() + 0.01
    step = interval / len(callers)
    each = await asyncio.gather(
        *(
            caller.call(begin + step * index, interval=interval, count=count)
            for index, caller in enumerate(callers)
        )
    )
    return [latency for measured in each for latency in measured]


class _Caller:
    """One connection, with one review at a time, as with the API server."""

    def __init__(
        self, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        self._request = f"{head}Content-Type: application/json\r\n\r\n".encode() + body
        self._reader, self._writer = reader, writer

    @classmethod
    async def of(cls, body: bytes, *, port: int, tls: ssl.SSLContext) -> _Caller:
        return cls(body, *await asyncio.open_connection("localhost", port, ssl=tls))

    async def call(self, due: float, *, interval: float, count: int) -> list[float]:
        loop = asyncio.get_running_loop()
        measured = []
        for _ in range(count):
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            self._writer.write(self._request)
            await self._answer()
            measured.append(loop.time() - due)
            due += interval
        return measured

    async def _answer(self) -> None:
        head = await self._reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            raise ConnectionError(head.decode())
        length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
        await self._reader.readexactly(int(length))

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()
