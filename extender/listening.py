"""A port of this process: plain HTTP on loopback, TLS anywhere else.

Where there are simple calls, each connection starts at a door, which answers them itself and hands
everything else over to a web server.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from extender.door import Entrance
from growth.errors import Misconfigured
from growth.service.address import is_loopback
from growth.service.tls import Files
from growth.service.web_server import accepting, listen, place_of, web_server

if TYPE_CHECKING:
    import asyncio
    import socket
    import ssl
    from collections.abc import AsyncIterator, Callable, Iterator

    from aiohttp import web

    from extender.door import Answers
    from extender.settings import ExtenderSettings
    from growth.service.address import Address
    from growth.service.tls import Certificates

KEPT_OPEN: Final = 120.0
"""Seconds that a connection of the web server may be idle: longer than Go's client keeps it."""
LINGERING: Final = 0.5
"""Seconds to read the rest of a refused body: a caller that is still sending reads no answer."""
_WAYS: Final = {
    "keepalive_timeout": KEPT_OPEN,
    "lingering_time": LINGERING,
    "auto_decompress": False,
    # Handlers stream to readers, so they must end when the reader disconnects.
    "handler_cancellation": True,
}
_NONE: Final[Answers] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port: its name, its address, and its certificate if it has one."""

    name: str
    address: Address
    files: Files | None

    @property
    def setting(self) -> str:
        """The flag of the address."""
        return f"--{self.name}-address"

    def open(self) -> socket.socket:
        """A listening socket, but no plain text on an address that other machines can reach."""
        if self.files is None and not is_loopback(self.address.host):
            raise Misconfigured(
                f"{self.setting}: other machines can reach {self.address}, which requires "
                f"--{self.name}-tls-folder; without it, listen on 127.0.0.1"
            )
        return listen(self.address, setting=self.setting)

    def url(self, listening: socket.socket) -> str:
        """The URL of the port on this socket."""
        return f"{'https' if self.files else 'http'}://{place_of(listening)}"


def verbs_port(settings: ExtenderSettings) -> Port:
    """The port for calls. It needs no client certificate: schedulers rarely have one."""
    folder = settings.verbs_tls_folder
    files = None if folder is None else Files.pair(folder)
    return Port(name="verbs", address=settings.verbs_address, files=files)


def demand_port(settings: ExtenderSettings) -> Port:
    """The port for the demand. It requires a client certificate, as pods are private."""
    folder = settings.demand_tls_folder
    files = None if folder is None else Files.mutual(folder)
    return Port(name="demand", address=settings.demand_address, files=files)


@contextlib.asynccontextmanager
async def serve_port(
    port: Port,
    application: web.Application,
    certificates: Certificates,
    *,
    answers: Answers = _NONE,
) -> AsyncIterator[str]:
    """Answer on the port during the context; yields its URL with the actual port."""
    with port.open() as listening:
        async with (
            _secured(port, certificates) as tls,
            web_server(application, **_WAYS) as server,
        ):
            with _entrance(answers, server) as entrance:
                async with accepting(entrance, listening, tls=tls):
                    yield port.url(listening)


@contextlib.asynccontextmanager
async def serve_socket(
    listening: socket.socket, port: Port, application: web.Application, certificates: Certificates
) -> AsyncIterator[None]:
    """Answer on a socket of this port that another process has opened."""
    async with (
        _secured(port, certificates) as tls,
        web_server(application, **_WAYS) as server,
        accepting(server, listening, tls=tls),
    ):
        yield


@contextlib.contextmanager
def _entrance(answers: Answers, server: web.Server) -> Iterator[Callable[[], asyncio.Protocol]]:
    if not answers:
        yield server
        return
    entrance = Entrance(answers, server=server)
    try:
        yield entrance
    finally:
        entrance.close()


@contextlib.asynccontextmanager
async def _secured(port: Port, certificates: Certificates) -> AsyncIterator[ssl.SSLContext | None]:
    if port.files is None:
        yield None
        return
    async with certificates.serving(port.name, port.files) as context:
        yield context
