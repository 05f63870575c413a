"""HTTP servers of all processes: a socket, a web server, and a handler for each connection.

The three are separate because they end one after another: first, no new connections are accepted;
then, open requests are answered; then, the socket is closed. The server logs no requests and
handles no signals.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from growth.errors import Misconfigured
from growth.service.address import Address
from growth.service.connections import FEW, ConnectionLimits, LimitedSocket

if TYPE_CHECKING:
    import ssl

Answering = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

HANDSHAKE: Final = 5.0
"""Seconds for a TLS handshake, and for the end of a TLS connection."""
FAREWELL: Final = 0.5
"""Seconds for open requests when the process ends."""
BACKLOG: Final = 128
"""The most connections that wait to be accepted."""


def listen(address: Address, *, setting: str, limits: ConnectionLimits = FEW) -> socket.socket:
    """A listening socket; raises `Misconfigured` with one line that names the setting."""
    try:
        return LimitedSocket(_open(address), limits)
    except OSError as error:
        raise Misconfigured(
            f"{setting}: cannot listen on {address}: {_reason(error)}; choose another one, or :0"
        ) from None


def _reason(error: OSError) -> str:
    # Python appends the address again, in its own notation.
    return str(error.strerror).partition(" (while")[0].lower()


def _open(address: Address) -> socket.socket:
    if address.host:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        return socket.create_server((address.host, address.port), family=family)
    # One socket for IPv4 and IPv6, so that `:0` is one port, and IPv6 clusters need no setting.
    try:
        return socket.create_server(("", address.port), family=socket.AF_INET6, dualstack_ipv6=True)
    except OSError as error:
        if error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
            raise
        return socket.create_server(("", address.port))


def place_of(listening: socket.socket) -> str:
    """The address of a socket as text."""
    host, port = listening.getsockname()[:2]
    return str(Address(host=host, port=port))


@contextlib.asynccontextmanager
async def web_server(
    answers: web.Application | Answering, *, farewell: float = FAREWELL, **ways: Any
) -> AsyncIterator[web.Server]:
    """A web server for connections; `ways` are options of aiohttp."""
    runner = _runner(answers, shutdown_timeout=farewell, ways={"access_log": None, **ways})
    await runner.setup()
    try:
        assert runner.server is not None  # noqa: S101 - tells mypy what setup has made
        yield runner.server
    finally:
        await runner.cleanup()


def _runner(
    answers: web.Application | Answering, *, shutdown_timeout: float, ways: dict[str, Any]
) -> web.BaseRunner:
    if isinstance(answers, web.Application):
        return web.AppRunner(
            answers, handle_signals=False, shutdown_timeout=shutdown_timeout, **ways
        )
    return web.ServerRunner(
        web.Server(answers, **ways), handle_signals=False, shutdown_timeout=shutdown_timeout
    )


@contextlib.asynccontextmanager
async def accepting(
    entrance: Callable[[], asyncio.Protocol],
    listening: socket.socket,
    *,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[None]:
    """Accept connections during the context; `entrance` is usually a web server."""
    loop = asyncio.get_running_loop()
    patience = None if tls is None else HANDSHAKE
    listener = await loop.create_server(
        entrance,
        sock=listening,
        ssl=tls,
        backlog=BACKLOG,
        ssl_handshake_timeout=patience,
        ssl_shutdown_timeout=patience,
    )
    try:
        yield
    finally:
        listener.close()
