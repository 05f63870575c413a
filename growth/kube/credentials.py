"""Who we are to the API server, kept current while tokens run out and files are replaced.

Tokens and certificates are read anew once a minute where they can change, and at once (but not in a
loop) when the server has rejected ours, or we its. When reading fails, the old ones are used on:
they may still be valid, and the server's 401 tells if they aren't.
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
"""Seconds between readings; the kubelet replaces a token when a fifth of its life is left."""

SHORTEST = 5.0
"""Seconds between readings caused by rejections: a wrong token must not run plugins in a loop."""

_log = structlog.get_logger(__name__)


class Credentials:
    """What proves who we are, and who the server is."""

    def __init__(self, access: Access, *, tls: Tls) -> None:
        self._access = access
        self._tls = tls
        self._read_at = asyncio.get_running_loop().time()
        self._was_rejected = False
        self._reading = asyncio.Lock()

    @property
    def tls(self) -> ssl.SSLContext:
        """What a connection is made with."""
        return self._tls.context

    async def headers(self) -> dict[str, str]:
        """What to send along with a request."""
        async with self._reading:
            if self._is_due():
                await self._read()
        setting = (await self._access.configuration.auth_settings()).get("BearerToken")
        # Token files often end with a newline, which no header may hold.
        value = str(setting["value"]).strip() if setting else ""
        return {"Authorization": value} if value else {}

    def rejected(self, denied: Denied) -> bool:
        """Notes a 401; the answer is whether the next try would be made with new credentials."""
        return denied.status == 401 and self.doubted()

    def doubted(self) -> bool:
        """Notes that they may be outdated; the answer is as for a rejection."""
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
            _log.warning("credentials could not be read anew", error=str(error))
