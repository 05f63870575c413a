"""What is counted of the certificates that we keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from certs.state import AuthoritySecret, LeafSecret
    from certs.tending import RoundDone


class CertsMetrics:
    """The writer's view, by Secret; what servers show is counted by `growth.service.tls`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.expiry = Gauge(
            "growth_certs_expiry_timestamp_seconds",
            "When the certificate in a Secret runs out; 0 when there is no good one",
            ["secret"],
            registry=registry,
        )
        self.writes = Counter(
            "growth_certs_writes",
            "Writes of Secrets and webhook configurations, by what was done",
            ["write"],
            registry=registry,
        )
        self.crashes = Counter(
            "growth_certs_crashes",
            "Rounds that ended in a bug",
            registry=registry,
        )
        self.problems = Gauge(
            "growth_certs_problems",
            "How many things stand in the way of certificates that renew themselves",
            registry=registry,
        )

    def count(self, done: RoundDone) -> None:
        """What a round has found and done."""
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
