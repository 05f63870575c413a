"""Our credentials for the API server, kept current while tokens expire and files are replaced.

Tokens and certificates that can change are read again once a minute. If the server rejects our
credentials, or we reject its certificate, they are read at once, but not in a loop. If reading
fails, the old ones stay in use: they may still be valid, and if not, the server answers 401.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from growth.errors import Misconfigured

if TYPE_CHECKING:
    import ssl

    from growth.kube.errors import Denied
    from growth.kube.kubeconfig import Access
    from growth.kube.tls import Tls

PERIOD = 60.0
"""Seconds between reads; the kubelet replaces a token when a fifth of its lifetime is left."""

SHORTEST = 5.0
"""Seconds between reads after rejections, so that a wrong token doesn't run plugins in a loop."""

_log = structlog.get_logger(__name__)


class Credentials:
    """The credentials for requests, and the TLS context that checks the server."""

    def __init__(self, access: Access, *, tls: Tls) -> None:
        self._access = access
        self._tls = tls
        self._read_at = asyncio.get_running_loop().time()
        self._was_rejected = False
        self._reading = asyncio.Lock()

    @property
    def tls(self) -> ssl.SSLContext:
        """The TLS context for connections."""
        return self._tls.context

    async def headers(self) -> dict[str, str]:
        """The headers for a request."""
        async with self._reading:
            if self._is_due():
                await self._read()
        setting = (await self._access.configuration.auth_settings()).get("BearerToken")
        # Token files often end with a newline, which isn't allowed in a header.
        value = str(setting["value"]).strip() if setting else ""
        return {"Authorization": value} if value else {}

    def rejected(self, denied: Denied) -> bool:
        """Note an error; returns whether it is a 401 that new credentials may fix."""
        return denied.status == 401 and self.doubted()

    def doubted(self) -> bool:
        """Note that credentials may be outdated; returns whether they will be read again now."""
        self._was_rejected = True
        return self._age() > SHORTEST

    def _is_due(self) -> bool:
        if self._was_rejected:
            return self._age() > SHORTEST
        return self._age() > PERIOD and self._access.is_due()

    def _age(self) -> float:
        return asyncio.get_running_loop().time() - self._read_at

    async def _read(self) -> None:
        self._read_at = asyncio.get_running_loop().time()
        self._was_rejected = False
        try:
            await self._access.read()
            await asyncio.to_thread(self._tls.renew)
        except Misconfigured as error:
            _log.warning("could not reload the credentials", error=str(error))
