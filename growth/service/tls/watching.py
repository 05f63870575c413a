"""Watches the files of one certificate, and loads new ones.

The files are read about once a second and compared as bytes, because modification times are too
coarse and the kubelet replaces whole folders behind a symbolic link. New content is checked and
loaded in a thread, and then taken into use by one assignment. Until then, and if it can't be used,
the previous content stays in use.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from growth.service.tls.checking import (
    Certificate,
    CertificateSide,
    Unusable,
    examined_certificate,
    in_utc,
)
from growth.service.tls.contexts import fresh

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from datetime import datetime

    from structlog.typing import FilteringBoundLogger

    from growth.service.tls.files import Content, Files
    from growth.service.tls.metrics import CertificateMetrics


@dataclass(frozen=True)
class Taken:
    """Content that is in use."""

    content: Content
    context: ssl.SSLContext
    certificate: Certificate


class WatchedCertificate:
    """The newest valid content of one certificate's files."""

    def __init__(
        self,
        name: str,
        files: Files,
        *,
        side: CertificateSide,
        metrics: CertificateMetrics,
        logger: FilteringBoundLogger,
        now: Callable[[], datetime],
    ) -> None:
        self._files = files
        self._side = side
        self._now = now
        self._logger = logger.bind(certificate=name)
        self._expiry = metrics.expiry.labels(name)
        self._refused = metrics.refused.labels(name)
        self._swaps = metrics.swaps.labels(name)
        self._taken: Taken | None = None
        self._reason = ""

    def newest(self) -> ssl.SSLContext | None:
        """The context for a new connection, if there was ever a valid one."""
        return self._taken.context if self._taken else None

    @property
    def reason(self) -> str:
        """Why the current files can't be used; "" if they can."""
        return self._reason

    def missing(self) -> str | None:
        """Why the certificate isn't ready for use, or None."""
        if self._taken is None:
            return f"none yet: {self._reason}"
        end = self._taken.certificate.not_after
        return f"it expired at {in_utc(end)}" if end < self._now() else None

    async def follow(self, interval: float) -> None:
        """Check the files until cancelled."""
        while True:
            await asyncio.sleep(interval)
            try:
                await self.look()
            except Exception:
                # The current certificate must stay in use.
                self._refused.set(1)
                self._logger.exception("could not check the certificate")

    async def look(self) -> None:
        """Check the files once, and use new valid content."""
        found = await asyncio.to_thread(self._judge)
        match found:
            case Taken():
                self._take(found)
            case str():
                self._refuse(found)
            case None:
                self._unchanged()

    def _judge(self) -> Taken | str | None:
        """Check the files, in a thread: new content, why it is unusable, or None if unchanged."""
        try:
            content = self._files.read()
            if self._taken is not None and content == self._taken.content:
                return None
            certificate = examined_certificate(
                content, files=self._files, side=self._side, now=self._now()
            )
            context = fresh(content, files=self._files, side=self._side)
        except OSError as error:
            return f"{error.filename}: {(error.strerror or 'not readable').lower()}"
        except Unusable as unusable:
            return str(unusable)
        return Taken(content, context, certificate)

    def _take(self, taken: Taken) -> None:
        self._taken = taken
        certificate = taken.certificate
        self._unchanged()
        self._swaps.inc()
        self._expiry.set(certificate.not_after.timestamp())
        self._logger.info(
            "certificate loaded",
            subject=certificate.subject,
            fingerprint=certificate.fingerprint,
            until=in_utc(certificate.not_after),
        )

    def _refuse(self, reason: str) -> None:
        self._refused.set(1)
        if reason != self._reason:
            self._reason = reason
            still = self._taken.certificate.fingerprint if self._taken else None
            self._logger.warning("certificate refused", reason=reason, in_use=still)

    def _unchanged(self) -> None:
        self._reason = ""
        self._refused.set(0)
