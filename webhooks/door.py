"""The HTTP side of admission, with limits for everything that a caller sends.

Any client in the network can send anything. So there are limits on the size of a body, before it is
read, and on the time until it has arrived; compressed bodies aren't accepted. A mistake of the
caller is a 4xx with one line. There is no router and no middleware: there is only one path, and the
API server is waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Final, Protocol

from aiohttp import hdrs, web

from growth.errors import RetryLater
from growth.service.request_body import RequestRefused, read_body
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
"""The API server accepts objects of 3 MiB, which may be larger as JSON, and wraps them."""
PATIENCE: Final = 5.0
"""Seconds for a body to arrive. The API server gives up after two."""
KEPT_OPEN: Final = 180.0
"""Seconds that an idle connection is kept: twice as long as the API server keeps it. If we closed
it first, the API server could send a POST into it. That isn't repeated, so the pod would miss its
pool."""
LINGERING: Final = 0.5
"""Seconds to read the rest of a refused body: a caller that is still sending reads no answer."""
FAREWELL: Final = 2.0
"""Seconds in which callers are told to reconnect elsewhere, before the port closes."""

MOMENT: Final = 0.1
"""Seconds without a connection after which the port closes."""
LOOKS: Final = 10
"""Checks within that time: a caller that has disconnected may reconnect."""


class Serving(Protocol):
    """A handler of requests that can announce its end."""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""

    def close(self) -> None:
        """Close each connection after its next answer."""


class AdmissionDoor:
    """Checks requests, and passes reviews to the desk."""

    def __init__(self, desk: Desk, *, metrics: AdmissionMetrics) -> None:
        self._desk = desk
        self._metrics = metrics
        self._is_closing = False

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        try:
            response = self._answered(await _body(request))
        except RequestRefused as refusal:
            response = self._refused(refusal)
        if self._is_closing:
            response.force_close()
        return response

    def close(self) -> None:
        """Close each connection after its next answer."""
        self._is_closing = True

    def _answered(self, body: bytes) -> web.Response:
        began = time.perf_counter()
        try:
            answer = self._desk.answer(body)
        except NotAReview as error:
            raise RequestRefused(400, f"not a review: {error}") from None
        except RetryLater as error:
            raise RequestRefused(503, str(error)) from None
        self._metrics.took(time.perf_counter() - began)
        return web.Response(body=answer, content_type="application/json")

    def _refused(self, refusal: RequestRefused) -> web.Response:
        self._metrics.refused(refusal.status)
        response = web.Response(status=refusal.status, text=f"{refusal}\n")
        # The unread rest of a body would be taken as the next request.
        response.force_close()
        return response


async def _body(request: web.BaseRequest) -> bytes:
    if request.path != PATH:
        raise RequestRefused(404, f"only {PATH} is served here")
    if request.method != hdrs.METH_POST:
        raise RequestRefused(405, "use POST")
    return await read_body(request, largest=LARGEST_BODY, patience=PATIENCE)


@contextlib.asynccontextmanager
async def open_door(
    door: Serving, listening: socket.socket, *, tls: ssl.SSLContext | None
) -> AsyncIterator[None]:
    """Serve on the socket during the context, and end without failing a caller."""
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
    """Wait until there has been no connection for a moment, but not forever."""
    looks = LOOKS if server.connections else 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FAREWELL):
            # aiohttp has no signal for the end of a connection.
            while looks:
                await asyncio.sleep(MOMENT / LOOKS)
                looks = LOOKS if server.connections else looks - 1
