"""One certificate, followed through all that happens to its files.

The files are read about once a second and compared as bytes: times of change have a grain of
milliseconds, and the kubelet swaps whole folders behind a link. A new content is examined and
loaded in a thread, and then taken by one assignment; until then, and whenever it can't be used,
what was there before stays.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from growth.service.tls.checking import Certificate, CertificateSide, Unusable, examined_certificate
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
    """A content that is served, or shown."""

    content: Content
    context: ssl.SSLContext
    certificate: Certificate


class WatchedCertificate:
    """The newest good content of one certificate's files."""

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
        """The context for a new connection, if there ever was a good one."""
        return self._taken.context if self._taken else None

    @property
    def reason(self) -> str:
        """Why the files as they are now can't be used; empty when they can."""
        return self._reason

    def missing(self) -> str | None:
        """What is missing to be of use to the other side."""
        if self._taken is None:
            return f"none yet: {self._reason}"
        end = self._taken.certificate.not_after
        return f"it has run out at {_told(end)}" if end < self._now() else None

    async def follow(self, interval: float) -> None:
        """Look at the files for ever."""
        while True:
            await asyncio.sleep(interval)
            try:
                await self.look()
            except Exception:
                # What serves now must not end for it.
                self._refused.set(1)
                self._logger.exception("certificate not looked at")

    async def look(self) -> None:
        """Take what is new and good."""
        found = await asyncio.to_thread(self._judge)
        match found:
            case Taken():
                self._take(found)
            case str():
                self._refuse(found)
            case None:
                self._unchanged()

    def _judge(self) -> Taken | str | None:
        """In a thread: what to take, why not, or None when nothing has changed."""
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
            "certificate taken",
            subject=certificate.subject,
            fingerprint=certificate.fingerprint,
            until=_told(certificate.not_after),
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


def _told(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
