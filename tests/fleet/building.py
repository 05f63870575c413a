"""Reports, regions and clusters for tests, of which each test names what matters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from fleet.core.amounts import CapacityAmounts
from fleet.core.clusters import FleetCluster, FleetRegion, RegionKey
from fleet.core.provider import ClusterSight, NodeCounts, ProviderProgress
from fleet.core.report import AgentCondition, AgentReport, ReportedNodes
from fleet.core.states import ClusterState
from fleet.nodes.scaled import ScaledCluster

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BEFORE = NOW - timedelta(hours=1)
LONG_AGO = NOW - timedelta(days=100)
KEY = RegionKey("aws", "us-east-1")
READY = (AgentCondition(type="Ready", status="True"),)


def amounts(connections: int, partitions: int | None = None) -> CapacityAmounts:
    same = connections if partitions is None else partitions
    return CapacityAmounts(connections=connections, partitions=same)


MODEL_T = amounts(100)


def a_report(**known: Any) -> AgentReport:
    nodes = {"ceiling": 12, "floor": 3, "current": 6, "workload_minimum": 3}
    nodes |= {name: known.pop(name) for name in list(known) if name in nodes}
    defaults = {
        "conditions": READY,
        "total": amounts(10_000),
        "remaining": amounts(500),
        "node_delta": 3,
        "delta": amounts(1000),
    }
    return AgentReport(**{**defaults, **known, "nodes": ReportedNodes(**nodes)})


def scaled(*, multi_az: bool = True, scales: bool = True) -> ScaledCluster:
    return ScaledCluster(model_t=MODEL_T, multi_az=multi_az, scales=scales)


def a_region(key: RegionKey = KEY, **known: Any) -> FleetRegion:
    return FleetRegion(**{"key": key, "model_t": MODEL_T, **known})


def a_cluster(name: str = "a", state: str = "ready", **known: Any) -> FleetCluster:
    since = LONG_AGO if state == ClusterState.FAILED else BEFORE
    defaults = {"key": KEY, "since": since, "instances": 1, "counted_at": NOW}
    return FleetCluster(name=name, state=ClusterState(state), **{**defaults, **known})


def a_sight(nodes: int | None = 6, progress: str = "ready", **known: Any) -> ClusterSight:
    counts = NodeCounts(desired=nodes, existing=nodes)
    defaults = {"counts": counts, "is_equipped": True}
    return ClusterSight(progress=ProviderProgress(progress), **{**defaults, **known})
