"""The door: what comes in over HTTP, how much of it, for how long, and what is answered.

Whoever reaches the port may send anything, so all has a limit: the size of a body before it is
read, the time until it is there, compressed bodies (none). A mistake of the caller is a 4xx with
one line. There is no router and no middleware: one path, and the API server waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Final, Protocol

from aiohttp import hdrs, web

from growth.errors import RetryLater
from growth.service.web_server import accepting, web_server
from webhooks.registration.names import PATH
from webhooks.review import NotAReview

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import AsyncIterator

    from webhooks.desk import Desk
    from webhooks.metrics import AdmissionMetrics

LARGEST_BODY: Final = 8 * 2**20
"""The API server takes requests of 3 MiB, which as JSON may be larger, and wraps them."""
PATIENCE: Final = 5.0
"""Seconds for a body to arrive. The API server has given up after two."""
KEPT_OPEN: Final = 180.0
"""Seconds that an idle connection is kept: twice as long as by the API server, which else could
post into one that is being closed. A post is not sent again, and the pod would miss its pool."""
LINGERING: Final = 0.5
"""Seconds for the rest of a body that is refused: a caller that still sends hears no answer."""
FAREWELL: Final = 2.0
"""Seconds in which callers are told to go elsewhere, before the door closes."""

MOMENT: Final = 0.1
LOOKS: Final = 10
"""So often in that moment: who has just left may come back by another connection."""


class _Refusal(Exception):
    """An answer that isn't an answer to a review."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Serving(Protocol):
    """What can be behind the socket."""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request."""

    def close(self) -> None:
        """From now on every answer is the last one on its connection."""


class AdmissionDoor:
    """Takes requests in and gives answers out."""

    def __init__(self, desk: Desk, *, metrics: AdmissionMetrics) -> None:
        self._desk = desk
        self._metrics = metrics
        self._is_closing = False

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request."""
        try:
            response = self._answered(await _body(request))
        except _Refusal as refusal:
            response = self._refused(refusal)
        if self._is_closing:
            response.force_close()
        return response

    def close(self) -> None:
        """From now on every answer is the last one on its connection."""
        self._is_closing = True

    def _answered(self, body: bytes) -> web.Response:
        began = time.perf_counter()
        try:
            answer = self._desk.answer(body)
        except NotAReview as error:
            raise _Refusal(400, f"no review: {error}") from None
        except RetryLater as error:
            raise _Refusal(503, str(error)) from None
        self._metrics.took(time.perf_counter() - began)
        return web.Response(body=answer, content_type="application/json")

    def _refused(self, refusal: _Refusal) -> web.Response:
        self._metrics.refused(refusal.status)
        response = web.Response(status=refusal.status, text=f"{refusal}\n")
        # What is left of a body that wasn't read would be taken for the next request.
        response.force_close()
        return response


async def _body(request: web.BaseRequest) -> bytes:
    if request.path != PATH:
        raise _Refusal(404, f"only {PATH} is served here")
    if request.method != hdrs.METH_POST:
        raise _Refusal(405, "reviews are posted")
    if hdrs.CONTENT_ENCODING in request.headers:
        raise _Refusal(415, "bodies are taken without compression")
    if (request.content_length or 0) > LARGEST_BODY:
        raise _Refusal(413, f"bodies of more than {LARGEST_BODY} bytes are not read")
    try:
        async with asyncio.timeout(PATIENCE):
            return await _read(request)
    except TimeoutError:
        raise _Refusal(408, f"the body did not arrive within {PATIENCE:g} s") from None


async def _read(request: web.BaseRequest) -> bytes:
    """The body; its length may be unknown, so it is counted on the way."""
    first = await request.content.readany()
    if request.content.at_eof():
        return first
    body = bytearray(first)
    while chunk := await request.content.readany():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise _Refusal(413, f"bodies of more than {LARGEST_BODY} bytes are not read")
    return bytes(body)


@contextlib.asynccontextmanager
async def open_door(
    door: Serving, listening: socket.socket, *, tls: ssl.SSLContext | None
) -> AsyncIterator[None]:
    """Serve on the socket while the context lasts, and end without a caller noticing."""
    async with (
        web_server(
            door.handle,
            farewell=FAREWELL,
            keepalive_timeout=KEPT_OPEN,
            lingering_time=LINGERING,
            auto_decompress=False,
        ) as server,
        accepting(server, listening, tls=tls),
    ):
        try:
            yield
        finally:
            door.close()
            await _until_left(server)


async def _until_left(server: web.Server) -> None:
    """Wait until nobody has been connected for a moment, within limits."""
    looks = LOOKS if server.connections else 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FAREWELL):
            # aiohttp tells nobody that a connection has ended.
            while looks:
                await asyncio.sleep(MOMENT / LOOKS)
                looks = LOOKS if server.connections else looks - 1
