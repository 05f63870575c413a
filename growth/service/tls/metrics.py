"""Metrics of the certificates that a process uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class CertificateMetrics:
    """The metrics of all certificates of a process, by the name of their use."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.expiry = Gauge(
            "growth_certificate_expiry_timestamp_seconds",
            "Expiry of the certificate in use; 0 if there is none",
            ["certificate"],
            registry=registry,
        )
        self.refused = Gauge(
            "growth_certificate_files_refused",
            "1 if the files of a certificate can't be used and an older one stays in use",
            ["certificate"],
            registry=registry,
        )
        self.swaps = Counter(
            "growth_certificate_swaps",
            "Number of times that a certificate was loaded from its files",
            ["certificate"],
            registry=registry,
        )
