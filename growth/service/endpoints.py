"""Serves /metrics, /healthz and /readyz on a separate port.

The port is separate because kubelet probes and Prometheus scrapes use plain HTTP and come from
anywhere in the cluster, which the other ports don't have to allow. Everyone may see the health; who
may read the metrics, a setting says. The socket is opened first and
served last: if the port is in use, the process ends before any part starts, and "ready" is never
answered before all parts have registered their checks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from aiohttp import web
from prometheus_client.aiohttp import make_aiohttp_handler

from growth.service.health import all_good
from growth.service.metrics_access import PATH, MetricsGuard
from growth.service.own_thread import in_own_thread
from growth.service.web_server import accepting, web_server

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Iterable

    from prometheus_client.registry import Collector

    from growth.service.context import Service
    from growth.service.health import HealthVerdict
    from growth.service.settings import ServiceSettings


KEPT_OPEN: Final = 120.0
"""Seconds that a connection may be idle; a Prometheus usually asks twice a minute."""


Endpoints: TypeAlias = Callable[
    ["Service[ServiceSettings]", "socket.socket"], AbstractAsyncContextManager[None]
]
"""Serves the endpoints of a process on a socket during the context."""


class ShownHealth(Protocol):
    """The health that is shown."""

    def liveness(self) -> tuple[HealthVerdict, ...]:
        """The results of all pulses."""
        ...

    def readiness(self) -> tuple[HealthVerdict, ...]:
        """The results of all checks."""
        ...


@contextlib.asynccontextmanager
async def serve_endpoints(
    service: Service[ServiceSettings], listening: socket.socket
) -> AsyncIterator[None]:
    """Answer on the socket during the context, in a thread of its own."""
    serving = partial(
        serving_endpoints, service, listening, health=service.health, metrics=service.registry
    )
    async with in_own_thread("endpoints", serving):
        yield


@contextlib.asynccontextmanager
async def leave_endpoints_to_a_part(
    _service: Service[ServiceSettings], _listening: socket.socket
) -> AsyncIterator[None]:
    """Don't answer on the socket: a part does."""
    yield


@contextlib.asynccontextmanager
async def serving_endpoints(
    service: Service[ServiceSettings],
    listening: socket.socket,
    *,
    health: ShownHealth,
    metrics: Collector,
) -> AsyncIterator[None]:
    """Answer on the socket during the context, in this event loop."""
    async with (
        MetricsGuard(service.settings, process=service.name) as guard,
        web_server(_application(health, metrics, guard), keepalive_timeout=KEPT_OPEN) as server,
        accepting(server, listening),
    ):
        yield


def _application(health: ShownHealth, metrics: Collector, guard: MetricsGuard) -> web.Application:
    page = make_aiohttp_handler(metrics)

    async def healthz(request: web.Request) -> web.Response:
        return _answer(request, health.liveness())

    async def readyz(request: web.Request) -> web.Response:
        return _answer(request, health.readiness())

    async def guarded(request: web.Request) -> web.StreamResponse:
        return await guard.refusal(request) or await page(request)

    application = web.Application()
    application.add_routes(
        [
            web.get("/healthz", healthz),
            web.get("/readyz", readyz),
            web.get(PATH, guarded),
        ]
    )
    return application


def _answer(request: web.Request, verdicts: tuple[HealthVerdict, ...]) -> web.Response:
    """All checks if they pass or with ?verbose, or else only those that fail."""
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
