"""Metrics of the report API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0)


class ReportMetrics:
    """The metrics of the report API; create this once per process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "growth_fleet_report_requests",
            "Requests of agents, by the status of the answer",
            ["status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "growth_fleet_report_seconds",
            "Time from the header of an agent's request to its answer",
            buckets=BUCKETS,
            registry=registry,
        )

    def answered(self, status: int, *, seconds: float) -> None:
        """Count a request, and record how long its answer took."""
        self._requests.labels(status=str(status)).inc()
        self._seconds.observe(seconds)
