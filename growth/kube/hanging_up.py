"""Closes a connection at once if its answer wasn't read to the end.

To close a TLS connection, asyncio waits up to half a minute for the other side. That is useless
here: a watch that we give up usually hangs, so there is no answer, and its socket would stay open.
When a body is read to the end, the connection goes back to the pool before the answer is closed. So
a connection that an answer still holds when it is closed won't be used again.
"""

from __future__ import annotations

from typing import Any

import aiohttp
from typing_extensions import override


class AbruptResponse(aiohttp.ClientResponse):
    """An answer whose connection is aborted if it is closed before its end."""

    @override
    def close(self) -> None:
        self._cut()
        super().close()

    @override
    def release(self) -> Any:
        self._cut()
        return super().release()

    def _cut(self) -> None:
        if self.connection is not None and self.connection.transport is not None:
            self.connection.transport.abort()
