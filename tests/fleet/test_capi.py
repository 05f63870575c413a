"""Clusters of Cluster API: what is read of them, and what is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fleet.capi.objects import (
    CLUSTER_LABEL,
    DEPLOYMENT_LABEL,
    CapiCluster,
    CapiClusterSpec,
    CapiClusterStatus,
    CapiCondition,
    CapiDeployment,
    CapiDeploymentSpec,
    CapiMachine,
    CapiMachineStatus,
    CapiMetadata,
    CapiTopology,
    TopologyDeployment,
    TopologyWorkers,
)
from fleet.capi.reading import THERE, cluster_name_of, sight_of
from fleet.capi.writing import cluster_body, spread_evenly
from fleet.core.clusters import RegionKey
from fleet.core.provider import ClusterSight, NodeCounts, ProviderProgress
from fleet.seeing.picture import owned_rows
from growth.api.clusterfleet import ClusterFleet
from growth.api.clusterrecord import ClusterRecord

ZONES = ("a", "b", "c")
ROW = {
    "provider": "aws",
    "region": "us-east-1",
    "clusterClass": "quick",
    "workerClass": "worker",
    "version": "v1.36.3",
    "zones": list(ZONES),
    "variables": [{"name": "size", "value": '{"cpu": 4}'}],
}


def a_fleet(name: str = "kafka", **row: Any) -> ClusterFleet:
    spec = {
        "namespace": "fleets",
        "modelT": {"connections": 100, "partitions": 100},
        "regions": [{**ROW, **row}],
    }
    return ClusterFleet.model_validate({"metadata": {"name": name}, "spec": spec})


def a_sight(
    *replicas: int | None, there: tuple[int, ...] | None = None, **known: Any
) -> ClusterSight:
    """A cluster whose zones want so many nodes, and have so many machines with one."""
    machines = [
        machine
        for zone, count in zip(ZONES, there or [each or 0 for each in replicas], strict=False)
        for machine in [a_machine(zone)] * count
    ]
    wanted = tuple(
        TopologyDeployment(zone, count) for zone, count in zip(ZONES, replicas, strict=False)
    )
    cluster = CapiCluster(
        CapiMetadata("x", deletion_timestamp=known.pop("deleted_at", None)),
        CapiClusterSpec(CapiTopology(TopologyWorkers(wanted))),
        CapiClusterStatus(
            tuple(CapiCondition(each, "True") for each in known.pop("conditions", THERE))
        ),
    )
    deployments = known.pop("deployments", replicas)
    return sight_of(
        cluster,
        [a_deployment(zone, count) for zone, count in zip(ZONES, deployments, strict=False)],
        [*machines, *known.pop("more", ())],
        is_equipped=False,
    )


def a_machine(zone: str, *, has_node: object = True, deleted_at: str | None = None) -> CapiMachine:
    metadata = CapiMetadata("m", labels=labels(zone), deletion_timestamp=deleted_at)
    return CapiMachine(metadata, CapiMachineStatus({"name": "n"} if has_node else None))


def a_deployment(zone: str, replicas: int | None) -> CapiDeployment:
    return CapiDeployment(CapiMetadata("d", labels=labels(zone)), CapiDeploymentSpec(replicas))


def labels(zone: str) -> dict[str, str]:
    return {CLUSTER_LABEL: "x", DEPLOYMENT_LABEL: zone}


def test_a_cluster_is_there_when_its_control_plane_answers_and_its_nodes_have_come() -> None:
    assert a_sight(1, 1, 1) == ClusterSight(
        progress=ProviderProgress.READY, counts=NodeCounts(desired=3, existing=3)
    )
    for missing in THERE:
        sight = a_sight(1, 1, 1, conditions=THERE - {missing})
        assert sight.progress is ProviderProgress.INSTALLING
    assert a_sight(1, 1, 1, there=(1, 1)).progress is ProviderProgress.INSTALLING


@pytest.mark.parametrize(
    ("sight", "counts"),
    [
        (a_sight(2, 2, 2, there=(1, 1, 1)), NodeCounts(desired=6, existing=3)),
        (
            a_sight(2, 2, 2, deployments=(1, 1, 1)),
            NodeCounts(desired=6, existing=6, is_settled=False),
        ),
        (
            a_sight(1, 1, 1, more=[a_machine("a", has_node=False)]),
            NodeCounts(desired=3, existing=3),
        ),
        (
            a_sight(1, 1, 1, more=[a_machine("a", deleted_at="now")]),
            NodeCounts(desired=3, existing=3, leaving=1),
        ),
        (a_sight(1, None, 1), NodeCounts(desired=None, existing=2)),
        (a_sight(), NodeCounts(desired=None, existing=0)),
    ],
)
def test_nodes_are_counted_by_machines(sight: ClusterSight, counts: NodeCounts) -> None:
    assert sight.counts == counts


def test_machines_of_a_control_plane_are_no_compute_nodes() -> None:
    plane = CapiMachine(CapiMetadata("m", labels={CLUSTER_LABEL: "x"}))
    assert cluster_name_of(plane) == ""
    assert cluster_name_of(a_machine("a")) == "x"


def test_a_cluster_that_is_being_deleted_is_seen() -> None:
    assert a_sight(1, 1, 1, deleted_at="now").is_deleting


@given(st.integers(0, 3000))
def test_nodes_are_spread_evenly(nodes: int) -> None:
    spread = spread_evenly(nodes, ZONES)
    assert sum(spread) == nodes
    assert max(spread) - min(spread) <= 1


def test_the_whole_intent_is_written_with_the_uid_of_the_record() -> None:
    spec = {"fleet": "kafka", "provider": "aws", "region": "us-east-1"}
    metadata = {"name": "us-east-1-abc", "uid": "7"}
    record = ClusterRecord.model_validate({"metadata": metadata, "spec": spec})
    row = a_fleet().spec.regions[0]
    body = cluster_body(record, row, namespace="fleets", nodes=6)
    assert body["metadata"] == {
        "name": "us-east-1-abc",
        "namespace": "fleets",
        "labels": {"growth.dev/cluster-record-uid": "7"},
    }
    topology = body["spec"]["topology"]
    assert topology["variables"] == [{"name": "size", "value": {"cpu": 4}}]
    assert [
        (each["failureDomain"], each["replicas"])
        for each in topology["workers"]["machineDeployments"]
    ] == [("a", 2), ("b", 2), ("c", 2)]


def test_a_region_of_two_fleets_belongs_to_the_first() -> None:
    rows = owned_rows([a_fleet("b", most=7), a_fleet("a", most=3)])
    [owned] = rows.values()
    assert list(rows) == [RegionKey("aws", "us-east-1")]
    assert (owned.fleet.name, owned.row.most) == ("a", 3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"nodes": 4},
        {"zones": ["a", "b"]},
        {"zones": ["a", "b", "b"]},
        {"version": "1.36"},
        {"most": -1},
        {"region": "US East"},
    ],
)
def test_a_row_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        a_fleet(**wrong)
