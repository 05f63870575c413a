"""Metrics of admission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

from webhooks.admission import AdmissionOutcome

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0)


class AdmissionMetrics:
    """The metrics of admission; create this once per process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        reviews = Counter(
            "growth_admission_reviews",
            "Answered reviews of pods, by outcome",
            ["outcome"],
            registry=registry,
        )
        self._reviews = {each: reviews.labels(outcome=each.value) for each in AdmissionOutcome}
        self._refused = Counter(
            "growth_admission_refused",
            "Requests that were answered with an error, by status",
            ["status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "growth_admission_seconds",
            "Time from the last byte of a review to the answer",
            buckets=BUCKETS,
            registry=registry,
        )

    def decided(self, outcome: AdmissionOutcome) -> None:
        """Count an answered review."""
        self._reviews[outcome].inc()

    def refused(self, status: int) -> None:
        """Count an error."""
        self._refused.labels(status=str(status)).inc()

    def took(self, seconds: float) -> None:
        """Record the time of an answer."""
        self._seconds.observe(seconds)
