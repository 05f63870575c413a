"""Reads the body of a request with limits, because anyone can send anything.

The size of a body is limited, before it is read if its length is known. So is the time until it has
arrived. Compressed bodies aren't accepted: a few bytes of them can become any number. A server that
uses this must not decompress bodies itself (`auto_decompress=False`).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import hdrs

if TYPE_CHECKING:
    from aiohttp import web


class RequestRefused(Exception):
    """An HTTP error instead of an answer; the text says what is wrong with the request."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


async def read_body(request: web.BaseRequest, *, largest: int, patience: float) -> bytes:
    """The body of a request, at most so many bytes and within so many seconds."""
    if hdrs.CONTENT_ENCODING in request.headers:
        raise RequestRefused(415, "compressed bodies are not accepted")
    if (request.content_length or 0) > largest:
        raise _too_large(largest)
    try:
        async with asyncio.timeout(patience):
            return await _read(request, largest)
    except TimeoutError:
        raise RequestRefused(408, f"the body did not arrive within {patience:g} s") from None


async def _read(request: web.BaseRequest, largest: int) -> bytes:
    """Read the body; its length may be unknown, so it is counted meanwhile."""
    body = await request.content.readany()
    if len(body) > largest:
        raise _too_large(largest)
    return body if request.content.at_eof() else await _rest(request, bytearray(body), largest)


async def _rest(request: web.BaseRequest, body: bytearray, largest: int) -> bytes:
    while chunk := await request.content.readany():
        body += chunk
        if len(body) > largest:
            raise _too_large(largest)
    return bytes(body)


def _too_large(largest: int) -> RequestRefused:
    return RequestRefused(413, f"the body is larger than {largest} bytes")
