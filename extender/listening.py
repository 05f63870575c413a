"""A port of this process: plain HTTP on loopback, TLS anywhere else.

Each connection meets a door first, which answers by itself what it was given answers for, and hands
all else to a web server.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from aiohttp import web

from extender.door import REST, Entrance
from growth.errors import Misconfigured
from growth.service.address import is_loopback
from growth.service.endpoints import listen, place_of

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import AsyncIterator

    from extender.door import Answers
    from growth.service.address import Address
    from growth.service.tls import Certificates, Files

FAREWELL: Final = 0.5
"""Seconds for a request that is being answered when the process ends."""
BACKLOG: Final = 128
_NONE: Final[Answers] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Port:
    """One port: what it is for, where it is, and its certificate, if it has one."""

    name: str
    address: Address
    files: Files | None

    @property
    def setting(self) -> str:
        """The flag that has set the address."""
        return f"--{self.name}-address"

    def check(self) -> None:
        """Nothing is said in plain text to another machine."""
        if self.files is None and not is_loopback(self.address.host):
            raise Misconfigured(
                f"{self.setting}: {self.address} can be reached from elsewhere, which needs "
                f"--{self.name}-tls-folder; without it listen on 127.0.0.1"
            )


@contextlib.asynccontextmanager
async def serve_port(
    port: Port,
    application: web.Application,
    certificates: Certificates,
    *,
    answers: Answers = _NONE,
) -> AsyncIterator[str]:
    """Answer on the port while the context lasts; gives its address, with the port it has got."""
    port.check()
    with listen(port.address, setting=port.setting) as listening:
        async with (
            _secured(port, certificates) as context,
            _serving(application) as server,
            _entered(Entrance(answers, server=server), listening, context),
        ):
            yield f"{'https' if port.files else 'http'}://{place_of(listening)}"


@contextlib.asynccontextmanager
async def _entered(
    entrance: Entrance, listening: socket.socket, context: ssl.SSLContext | None
) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(entrance, sock=listening, ssl=context, backlog=BACKLOG)
    try:
        yield
    finally:
        listener.close()
        entrance.close()


@contextlib.asynccontextmanager
async def _serving(application: web.Application) -> AsyncIterator[web.Server]:
    # Answers are streamed to whoever reads them: a handler has to end when the reader has gone.
    runner = web.AppRunner(
        application,
        access_log=None,
        handle_signals=False,
        handler_cancellation=True,
        keepalive_timeout=REST,
        shutdown_timeout=FAREWELL,
    )
    await runner.setup()
    try:
        assert runner.server is not None  # noqa: S101 - tells mypy what setup has made
        yield runner.server
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def _secured(port: Port, certificates: Certificates) -> AsyncIterator[ssl.SSLContext | None]:
    if port.files is None:
        yield None
        return
    async with certificates.serving(port.name, port.files) as context:
        yield context
