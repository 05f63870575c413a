"""Metrics of leader election."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class ElectionMetrics:
    """The metrics of one candidate; create this once per registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.leading = Gauge(
            "growth_leader", "1 if this process leads, otherwise 0", registry=registry
        )
        self.transitions = Gauge(
            "growth_leader_transitions",
            "Changes of the leader, as counted in the Lease",
            registry=registry,
        )
        self.renew_failures = Counter(
            "growth_leader_renew_failures",
            "Requests for the Lease that failed while this process was the leader",
            registry=registry,
        )
