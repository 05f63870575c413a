"""An HTTP server on loopback that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import yaml
from aiohttp import web

if TYPE_CHECKING:
    import ssl

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def listening(answer: Answer, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serves until the block ends; gives the base address."""
    server = web.Server(answer, handler_cancellation=True)
    runner = web.ServerRunner(server, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"{'https' if tls else 'http'}://{host}:{port}"
    finally:
        await runner.cleanup()


def kubeconfig(server: str, *, authority: str | None = None, **user: Any) -> str:
    """The text of a kubeconfig with one context, for one user."""
    trusted = {"certificate-authority": authority} if authority else {}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server, **trusted}}],
            "users": [{"name": "u", "user": user}],
        }
    )


def status(code: int, *, reason: str = "", message: str = "", **details: Any) -> dict[str, Any]:
    """A Status as the API server sends it."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
        "details": details,
    }
