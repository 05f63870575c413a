"""The HTTP side of reports, with limits for everything that a client sends.

Agents come from other clusters, over networks that others use. So the token is checked before the
body is read, and there are limits on the size of a body, on the time until it has arrived, and on
how often a cluster may report.
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING, Final

from aiohttp import hdrs, web

from fleet.serving.allowances import Allowances
from growth.service.request_body import RequestRefused, read_body
from growth.service.web_server import accepting, web_server

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import AsyncIterator, Callable

    from fleet.serving.bearers import Bearers
    from fleet.serving.desk import ReportDesk
    from fleet.serving.metrics import ReportMetrics

PREFIX: Final = "/api/managed-services-api/v1/agent-clusters/"
LARGEST_BODY: Final = 64 * 2**10
"""A report has about one KiB."""
PATIENCE: Final = 5.0
"""Seconds for a body to arrive."""
KEPT_OPEN: Final = 90.0
LINGERING: Final = 0.5
"""Seconds to read the rest of a refused body: a client that is still sending reads no answer."""
_PLACE: Final = re.compile(re.escape(PREFIX) + r"([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)(/status)?")


class ReportDoor:
    """Checks requests, and passes them to the desk."""

    def __init__(
        self,
        desk: ReportDesk,
        *,
        bearers: Bearers,
        metrics: ReportMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._desk = desk
        self._bearers = bearers
        self._metrics = metrics
        self._clock = clock
        self._reports = Allowances(a_second=10, at_once=20, clock=clock)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        began = self._clock()
        try:
            response = await self._answer(request)
        except RequestRefused as refusal:
            response = _refused(refusal)
        self._metrics.answered(response.status, seconds=self._clock() - began)
        return response

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        cluster, is_report = _place(request)
        authorization = request.headers.get(hdrs.AUTHORIZATION, "")
        claims = await self._bearers.of(authorization, by=request.remote or "")
        self._desk.admit(claims, cluster=cluster)
        if not is_report:
            return web.json_response(self._desk.configuration().as_json())
        if not self._reports.take(cluster):
            raise RequestRefused(429, "this cluster reports too often")
        body = await read_body(request, largest=LARGEST_BODY, patience=PATIENCE)
        self._desk.take(body, cluster=cluster)
        return web.Response(status=204)


def _place(request: web.BaseRequest) -> tuple[str, bool]:
    """The cluster that a request is about, and whether it is a report."""
    found = _PLACE.fullmatch(request.path)
    if found is None:
        raise RequestRefused(404, "not found")
    method = hdrs.METH_PUT if found[2] else hdrs.METH_GET
    if request.method != method:
        raise RequestRefused(405, f"use {method}")
    return found[1], bool(found[2])


def _refused(refusal: RequestRefused) -> web.Response:
    headers = {}
    if refusal.status == 401:
        headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
    if refusal.status in {429, 503}:
        headers[hdrs.RETRY_AFTER] = "1"
    response = web.Response(status=refusal.status, text=f"{refusal}\n", headers=headers)
    # The unread rest of a body would be taken as the next request.
    response.force_close()
    return response


@contextlib.asynccontextmanager
async def open_report_door(
    door: ReportDoor, listening: socket.socket, *, tls: ssl.SSLContext | None
) -> AsyncIterator[None]:
    """Serve on the socket during the context."""
    async with (
        web_server(
            door.handle,
            keepalive_timeout=KEPT_OPEN,
            lingering_time=LINGERING,
            auto_decompress=False,
        ) as server,
        accepting(server, listening, tls=tls),
    ):
        yield
