"""Who we are to the API server, kept current while tokens run out and files are replaced.

Tokens are read anew once a minute where they can change, and at once (but not in a loop) when the
server has rejected the one we have. When reading fails, the old one is used on: it may still be
valid, and the server's 401 tells if it isn't.
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

PERIOD = 60.0
"""Seconds between readings; the kubelet replaces a token when a fifth of its life is left."""

SHORTEST = 5.0
"""Seconds between readings caused by rejections: a wrong token must not run plugins in a loop."""

_log = structlog.get_logger(__name__)


def tls_of(access: Access) -> ssl.SSLContext:
    """CA and client certificate, if there is one. Reads files: for a thread."""
    from kubernetes.aio.client.rest import RESTClientObject  # noqa: PLC0415 - a second of import

    try:
        return RESTClientObject(access.configuration).ssl_context
    except (OSError, ValueError) as error:
        raise Misconfigured(
            f"{access.origin}: its certificates can't be loaded ({type(error).__name__});"
            " check the CA, client certificate and key that it names"
        ) from None


class Credentials:
    """The header that proves who we are."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._read_at = asyncio.get_running_loop().time()
        self._was_rejected = False
        self._reading = asyncio.Lock()

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
        if denied.status == 401:
            self._was_rejected = True
            return self._age() > SHORTEST
        return False

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
        except Misconfigured as error:
            _log.warning("credentials could not be read anew", error=str(error))
