"""/metrics, /healthz and /readyz, on a port of their own.

On a port of their own because a kubelet's probes and the scrapes of a Prometheus come in plain HTTP
and from anywhere in the cluster, which the ports that do the work need not allow. The socket is
opened first and served last: a taken port ends the process before any part has begun, and nobody
is told "ready" before every part had its say.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from typing import TYPE_CHECKING

from aiohttp import web
from prometheus_client.aiohttp import make_aiohttp_handler

from growth.errors import Misconfigured
from growth.service.address import Address
from growth.service.health import all_good

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from growth.service.context import Service
    from growth.service.health import HealthVerdict
    from growth.service.settings import ServiceSettings

FAREWELL = 0.5
"""Seconds for a request that is being answered when the process ends."""


def listen(address: Address, *, setting: str) -> socket.socket:
    """A listening socket, or one line for whoever has set the address."""
    try:
        return _open(address)
    except OSError as error:
        raise Misconfigured(
            f"{setting}: cannot listen on {address}: {_reason(error)}; choose another, :0 finds one"
        ) from None


def _reason(error: OSError) -> str:
    # Python adds the address once more, in its way of writing it.
    return str(error.strerror).partition(" (while")[0].lower()


def _open(address: Address) -> socket.socket:
    if address.host:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        return socket.create_server((address.host, address.port), family=family)
    # One socket for both families: `:0` means one port, and IPv6-only clusters need no setting.
    try:
        return socket.create_server(("", address.port), family=socket.AF_INET6, dualstack_ipv6=True)
    except OSError as error:
        if error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
            raise
        return socket.create_server(("", address.port))


def place_of(listening: socket.socket) -> str:
    """Where a socket listens, as one would write it."""
    host, port = listening.getsockname()[:2]
    return str(Address(host=host, port=port))


@contextlib.asynccontextmanager
async def serve_endpoints(
    service: Service[ServiceSettings], listening: socket.socket
) -> AsyncIterator[None]:
    """Answer on the socket while the context lasts."""
    runner = web.AppRunner(
        _application(service), access_log=None, handle_signals=False, shutdown_timeout=FAREWELL
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield
    finally:
        await runner.cleanup()


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
