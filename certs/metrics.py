"""Metrics of the certificates that growth manages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from certs.state import AuthoritySecret, LeafSecret
    from certs.tending import RoundDone


class CertsMetrics:
    """The metrics of the writer, by Secret; `growth.service.tls` has those of the servers."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.expiry = Gauge(
            "growth_certs_expiry_timestamp_seconds",
            "When the certificate in a Secret expires; 0 if there is no valid one",
            ["secret"],
            registry=registry,
        )
        self.writes = Counter(
            "growth_certs_writes",
            "Writes of Secrets and webhook configurations, by kind of write",
            ["write"],
            registry=registry,
        )
        self.crashes = Counter(
            "growth_certs_crashes",
            "Rounds that ended with an unexpected error",
            registry=registry,
        )
        self.problems = Gauge(
            "growth_certs_problems",
            "Problems that prevent the automatic renewal of certificates",
            registry=registry,
        )

    def count(self, done: RoundDone) -> None:
        """Record the results of a round."""
        self.problems.set(len(done.problems) + len(done.advice))
        for write in done.written:
            self.writes.labels(type(write).__name__).inc()
        for kept in done.found.state if done.found else ():
            self._date(kept.authority)
            for leaf in kept.leaves:
                self._date(leaf)

    def _date(self, secret: AuthoritySecret | LeafSecret) -> None:
        end = secret.pair.certificate.end.timestamp() if secret.pair else 0
        self.expiry.labels(secret.wanted.name).set(end)


class ApprovalMetrics:
    """The metrics of the approver of kubelets' certificates."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter(
            "growth_certs_signing_requests",
            "Requests for a kubelet's certificate made with growth's join tokens, by result",
            ["result"],
            registry=registry,
        )
        self.crashes = Counter(
            "growth_certs_approval_crashes",
            "Rounds of the approver that ended with an unexpected error",
            registry=registry,
        )
