"""A port of this process: plain HTTP on loopback, TLS anywhere else.

A connection may rest for an hour. Go's client keeps one for 90 seconds, and does not repeat a POST
that meets a connection which the server is just closing; so the server must never be the first.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aiohttp import web

from growth.errors import Misconfigured
from growth.service.address import is_loopback
from growth.service.endpoints import listen, place_of

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator

    from growth.service.address import Address
    from growth.service.tls import Certificates, Files

KEEP_ALIVE: Final = 3600.0
FAREWELL: Final = 0.5
"""Seconds for a request that is being answered when the process ends."""


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
async def served(
    port: Port, application: web.Application, certificates: Certificates
) -> AsyncIterator[str]:
    """Answer on the port while the context lasts; gives its address, with the port it has got."""
    port.check()
    # Answers are streamed to whoever reads them: a handler has to end when the reader has gone.
    runner = web.AppRunner(
        application,
        access_log=None,
        handle_signals=False,
        handler_cancellation=True,
        keepalive_timeout=KEEP_ALIVE,
        shutdown_timeout=FAREWELL,
    )
    with listen(port.address, setting=port.setting) as listening:
        await runner.setup()
        try:
            async with _secured(port, certificates) as context:
                await web.SockSite(runner, listening, ssl_context=context).start()
                yield f"{'https' if port.files else 'http'}://{place_of(listening)}"
        finally:
            await runner.cleanup()


@contextlib.asynccontextmanager
async def _secured(port: Port, certificates: Certificates) -> AsyncIterator[ssl.SSLContext | None]:
    if port.files is None:
        yield None
        return
    async with certificates.serving(port.name, port.files) as context:
        yield context
