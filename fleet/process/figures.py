"""Metrics of fleets: how many clusters are in which state, and what was done."""

from __future__ import annotations

from collections import Counter as Counts
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from fleet.core.actions import FleetAction
    from fleet.core.world import FleetWorld


class FleetFigures:
    """The metrics of fleets; create this once per process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._clusters = Gauge(
            "growth_fleet_clusters",
            "Clusters by provider, region and state",
            ["provider", "region", "state"],
            registry=registry,
        )
        self._actions = Counter(
            "growth_fleet_actions",
            "Actions on clusters, such as CreateCluster, by result (done, failed)",
            ["action", "result"],
            registry=registry,
        )
        self._leading = Gauge(
            "growth_fleet_leader",
            "1 if this process manages fleets, otherwise 0",
            registry=registry,
        )

    def leads(self, *, is_leader: bool) -> None:
        """Show whether this process is the leader. Others show no clusters."""
        self._leading.set(is_leader)
        if not is_leader:
            self._clusters.clear()

    def show(self, world: FleetWorld) -> None:
        """Show the clusters of a world."""
        counts = Counts(
            (each.key.provider, each.key.region, each.state.value)
            for each in world.known_clusters()
            if not each.is_soft_deleted
        )
        self._clusters.clear()
        for labels, count in counts.items():
            self._clusters.labels(*labels).set(count)

    def did(self, action: FleetAction, *, result: str) -> None:
        """Count an action."""
        self._actions.labels(action=type(action).__name__, result=result).inc()
