"""Ending an answer that isn't read to its end: at once, without a word to the other side.

TLS has a polite goodbye, and asyncio waits up to half a minute for its answer. That is for nothing
here: a watch that is given up mostly hangs, so nobody answers, and meanwhile its socket stays open
and belongs to no one. A body that was read to its end gives its connection back before; so whatever
is still held when an answer is closed will not be used again.
"""

from __future__ import annotations

from typing import Any

import aiohttp
from typing_extensions import override


class AbruptResponse(aiohttp.ClientResponse):
    """An answer whose connection is cut when it is closed too early."""

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
