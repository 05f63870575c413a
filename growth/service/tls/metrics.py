"""What is counted of the certificates that a process serves or shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class CertificateMetrics:
    """The metrics of all certificates of one process, by the name of their use."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.expiry = Gauge(
            "growth_certificate_expiry_timestamp_seconds",
            "When the certificate in use runs out; 0 while there is none",
            ["certificate"],
            registry=registry,
        )
        self.refused = Gauge(
            "growth_certificate_files_refused",
            "1 while the files of a certificate can't be used, so that an older one stays in use",
            ["certificate"],
            registry=registry,
        )
        self.swaps = Counter(
            "growth_certificate_swaps",
            "How often a certificate was taken from its files",
            ["certificate"],
            registry=registry,
        )
