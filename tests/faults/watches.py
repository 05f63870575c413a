"""One watch on its way through the proxy, line by line.

Events are what faults are about, so the watch isn't copied as bytes: each line passes `pass_line`,
where it can be cut, or held back for ever; and what it tells can be dropped, held or doubled.
"""

from __future__ import annotations

import asyncio
import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiohttp import ClientResponse, web

    from tests.faults.events import EventFaults


class Fate(enum.Enum):
    """What becomes of the next line."""

    PASSES = "passes"
    IS_CUT = "is cut"
    """Half of it arrives, then the connection is reset."""
    HANGS = "hangs"
    """It never arrives, and the connection stays open."""


class Watch:
    """One open watch."""

    def __init__(
        self, request: web.BaseRequest, response: web.StreamResponse, faults: EventFaults
    ) -> None:
        self.kind = request.path.rsplit("/", 1)[-1]
        """The plural."""
        self._faults = faults
        self._request = request
        self._response = response
        self.fate = Fate.PASSES
        self.lines = 0

    async def forward(self, upstream: ClientResponse) -> None:
        """Passes lines on until one of the two sides ends it."""
        while line := await upstream.content.readuntil(b"\n"):
            await self.pass_line(line)

    async def pass_line(self, line: bytes) -> None:
        """One line from the API server to the client."""
        match self.fate:
            case Fate.PASSES:
                for each in await self._faults.treated(self.kind, line):
                    self.lines += 1
                    await self._response.write(each)
            case Fate.IS_CUT:
                await self._response.write(line[: len(line) // 2])
                self.reset()
            case Fate.HANGS:
                await asyncio.Event().wait()

    def reset(self) -> None:
        """The connection breaks, as if a machine on the way had died."""
        if self._request.transport is not None:
            self._request.transport.abort()
