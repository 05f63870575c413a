"""/metrics, /healthz and /readyz, on a port of their own.

On a port of their own because a kubelet's probes and the scrapes of a Prometheus come in plain HTTP
and from anywhere in the cluster, which the ports that do the work need not allow. The socket is
opened first and served last: a taken port ends the process before any part has begun, and nobody
is told "ready" before every part had its say.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from aiohttp import web
from prometheus_client.aiohttp import make_aiohttp_handler

from growth.service.health import all_good
from growth.service.web_server import accepting, web_server

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Iterable

    from growth.service.context import Service
    from growth.service.health import HealthVerdict
    from growth.service.settings import ServiceSettings


@contextlib.asynccontextmanager
async def serve_endpoints(
    service: Service[ServiceSettings], listening: socket.socket
) -> AsyncIterator[None]:
    """Answer on the socket while the context lasts."""
    async with web_server(_application(service)) as server, accepting(server, listening):
        yield


def _application(service: Service[ServiceSettings]) -> web.Application:
    async def healthz(request: web.Request) -> web.Response:
        return _answer(request, service.health.liveness())

    async def readyz(request: web.Request) -> web.Response:
        return _answer(request, service.health.readiness())

    application = web.Application()
    application.add_routes(
        [
            web.get("/healthz", healthz),
            web.get("/readyz", readyz),
            web.get("/metrics", make_aiohttp_handler(service.registry)),
        ]
    )
    return application


def _answer(request: web.Request, verdicts: tuple[HealthVerdict, ...]) -> web.Response:
    """Every check when all is well or when asked to be verbose, else only what is missing."""
    good = all_good(verdicts)
    told = verdicts if good or "verbose" in request.query else [v for v in verdicts if not v.good]
    return web.Response(
        text="".join(_lines(told)),
        status=200 if good else 503,
        headers={"Cache-Control": "no-store"},
    )


def _lines(verdicts: Iterable[HealthVerdict]) -> Iterable[str]:
    for verdict in verdicts:
        yield f"ok {verdict.name}\n" if verdict.good else f"no {verdict.name}: {verdict.missing}\n"
