"""The certificates of one process; each is watched while a server or client uses it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from growth.clocks import wall_clock
from growth.errors import RetryLater
from growth.service.tls.checking import CertificateSide
from growth.service.tls.contexts import listening
from growth.service.tls.metrics import CertificateMetrics
from growth.service.tls.watching import WatchedCertificate

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime

    from growth.service.context import Service
    from growth.service.settings import ServiceSettings
    from growth.service.tls.files import Files

INTERVAL = 1.0
"""Seconds between two checks. The kubelet itself needs up to 90 seconds to update a Secret."""


class Certificates:
    """The certificates of a process. Create it once, because it declares metrics."""

    def __init__(
        self,
        service: Service[ServiceSettings],
        *,
        interval: float = INTERVAL,
        now: Callable[[], datetime] = wall_clock,
    ) -> None:
        self._service = service
        self._interval = interval
        self._now = now
        self._metrics = CertificateMetrics(service.registry)

    @asynccontextmanager
    async def serving(self, name: str, files: Files) -> AsyncIterator[ssl.SSLContext]:
        """A context for a server. Until the files are valid, it isn't ready and refuses handshakes.

        Enter it before the first await of a part, because it registers a readiness check.
        """
        watched = self._watched(name, files, side=CertificateSide.SERVER)
        self._service.health.require(f"certificate of {name}", watched.missing)
        async with _followed(watched, self._interval):
            yield listening(watched.newest, files)

    @asynccontextmanager
    async def calling(self, name: str, files: Files) -> AsyncIterator[Callable[[], ssl.SSLContext]]:
        """A function that returns the newest context, for each connection of a client.

        It raises `RetryLater` while there is no valid certificate. Readiness doesn't depend on it,
        because a process that can't call another one can still work.
        """
        watched = self._watched(name, files, side=CertificateSide.CLIENT)

        def newest() -> ssl.SSLContext:
            found = watched.newest()
            if found is None:
                raise RetryLater(f"there is no client certificate yet: {watched.reason}")
            return found

        async with _followed(watched, self._interval):
            yield newest

    def _watched(self, name: str, files: Files, *, side: CertificateSide) -> WatchedCertificate:
        return WatchedCertificate(
            name,
            files,
            side=side,
            metrics=self._metrics,
            logger=self._service.logger,
            now=self._now,
        )


@asynccontextmanager
async def _followed(watched: WatchedCertificate, interval: float) -> AsyncIterator[None]:
    """Watch a certificate during the block; the first check is done before it begins."""
    await watched.look()
    # No task group, because it would wrap errors of the block, which callers want to catch.
    following = asyncio.create_task(watched.follow(interval), name="certificate")
    try:
        yield
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
