"""Metrics of events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import prometheus_client as prometheus

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class EventMetrics:
    """The metrics of events; create this once per registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.written = prometheus.Counter(
            "growth_events_written", "Events that were created or updated", registry=registry
        )
        self.dropped = prometheus.Counter(
            "growth_events_dropped",
            "Events that were dropped, by cause",
            ("cause",),
            registry=registry,
        )
        self.subjects = prometheus.Gauge(
            "growth_events_subjects",
            "Objects and reasons that are remembered to detect repetitions",
            registry=registry,
        )
