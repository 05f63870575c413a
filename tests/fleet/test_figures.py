"""What the manager of fleets shows to Prometheus."""

from __future__ import annotations

from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from fleet.core.clusters import FleetCluster, RegionKey
from fleet.core.states import ClusterState
from fleet.core.world import FleetWorld
from fleet.process.figures import FleetFigures

KEY = RegionKey("capi", "fsn1")


def test_only_the_manager_that_leads_shows_clusters_and_it_is_no_leader_among_reconcilers() -> None:
    registry = CollectorRegistry()
    figures = FleetFigures(registry)
    ready = FleetCluster(
        name="fsn1-a", key=KEY, state=ClusterState.READY, since=datetime(2026, 1, 1, tzinfo=UTC)
    )
    labels = {"provider": "capi", "region": "fsn1", "state": ClusterState.READY.value}

    figures.leads(is_leader=True)
    figures.show(FleetWorld(regions=(), clusters=(ready,)))
    assert registry.get_sample_value("growth_fleet_leader") == 1
    assert registry.get_sample_value("growth_fleet_clusters", labels) == 1

    figures.leads(is_leader=False)
    assert registry.get_sample_value("growth_fleet_leader") == 0
    assert registry.get_sample_value("growth_fleet_clusters", labels) is None
    assert registry.get_sample_value("growth_leader") is None
