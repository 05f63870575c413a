"""Compute nodes: in steps, within bounds, in multiples of three where there are three zones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.core.provider import NodeCounts
from fleet.core.states import ClusterState
from fleet.nodes.bounds import (
    ZONES,
    restricted_ceiling,
    restricted_floor,
    round_down,
    round_up,
    size_of_step,
)
from fleet.nodes.capacity import is_stuck_below_ceiling, state_by_capacity
from fleet.nodes.progress import NodesUnknown, is_scaling
from fleet.nodes.steps import StepDirection, node_step
from tests.fleet.building import a_report, amounts, scaled

if TYPE_CHECKING:
    from fleet.core.amounts import CapacityAmounts
    from fleet.core.report import AgentReport
    from fleet.nodes.scaled import ScaledCluster

COUNTS = st.integers(0, 60)
AMOUNTS = st.builds(amounts, st.integers(-50, 3000), st.integers(-50, 3000))
REPORTS = st.builds(
    a_report,
    ceiling=COUNTS,
    floor=COUNTS,
    current=COUNTS,
    workload_minimum=COUNTS,
    node_delta=st.integers(0, 9),
    remaining=AMOUNTS,
    delta=AMOUNTS,
)
CLUSTERS = st.builds(scaled, multi_az=st.booleans())


@given(st.integers(0, 2**63), st.integers(1, 100))
def test_rounding_ends_at_the_nearest_multiple(value: int, multiple: int) -> None:
    low, high = round_down(value, multiple=multiple), round_up(value, multiple=multiple)
    assert low % multiple == high % multiple == 0
    assert low <= value <= high < low + multiple + (value != low)


@given(REPORTS, CLUSTERS)
def test_a_step_is_whole_and_ends_within_the_bounds(
    report: AgentReport, cluster: ScaledCluster
) -> None:
    step = node_step(report, cluster)
    multi_az = cluster.multi_az
    nodes = report.nodes
    size = size_of_step(report.node_delta, multi_az=multi_az)
    match step.direction:
        case StepDirection.UP:
            assert step.nodes == nodes.current + size
            assert (
                nodes.current < step.nodes <= restricted_ceiling(nodes.ceiling, multi_az=multi_az)
            )
        case StepDirection.DOWN:
            assert step.nodes == nodes.current - size
            assert step.nodes >= max(
                ZONES, nodes.workload_minimum, restricted_floor(nodes.floor, multi_az=multi_az)
            )
            assert nodes.current > nodes.workload_minimum
        case StepDirection.NONE:
            assert step.nodes == nodes.current


@given(REPORTS, CLUSTERS)
def test_steps_over_zones_keep_a_multiple_of_three(
    report: AgentReport, cluster: ScaledCluster
) -> None:
    nodes = report.nodes
    even = replace(report, nodes=replace(nodes, current=round_up(nodes.current, multiple=3)))
    if cluster.multi_az:
        assert node_step(even, cluster).nodes % ZONES == 0


@given(REPORTS, CLUSTERS, COUNTS)
def test_more_room_never_leads_to_more_nodes(
    report: AgentReport, cluster: ScaledCluster, more: int
) -> None:
    left = report.remaining
    roomier = replace(report, remaining=amounts(left.connections + more, left.partitions + more))
    before, after = node_step(report, cluster), node_step(roomier, cluster)
    assert after.nodes <= before.nodes or before.direction is StepDirection.DOWN


@pytest.mark.parametrize(
    ("remaining", "current", "state"),
    [
        (amounts(100, 100), 12, ClusterState.READY),
        (amounts(99, 10**9), 12, ClusterState.FULL),
        (amounts(10**9, 99), 11, ClusterState.SCALING_UP),
        (amounts(-5), 11, ClusterState.SCALING_UP),
        (amounts(0), 13, ClusterState.FULL),
    ],
)
def test_capacity_decides_the_state(
    remaining: CapacityAmounts, current: int, state: ClusterState
) -> None:
    report = a_report(remaining=remaining, current=current, ceiling=14)
    assert state_by_capacity(report, scaled()) is state
    assert state_by_capacity(report, scaled(scales=False)) is ClusterState.READY


def test_a_ceiling_counts_as_it_is_in_a_single_zone() -> None:
    report = a_report(remaining=amounts(0), current=13, ceiling=14)
    assert state_by_capacity(report, scaled()) is ClusterState.FULL
    assert state_by_capacity(report, scaled(multi_az=False)) is ClusterState.SCALING_UP


@pytest.mark.parametrize(("current", "is_stuck"), [(6, False), (7, True), (9, False)])
def test_a_cluster_that_no_step_fits_in_is_told_apart(current: int, is_stuck: object) -> None:
    report = a_report(remaining=amounts(0), current=current, ceiling=9)
    assert is_stuck_below_ceiling(report, scaled()) is is_stuck


@pytest.mark.parametrize(
    ("counts", "scaling"),
    [
        (NodeCounts(desired=6, existing=6), False),
        (NodeCounts(desired=6, existing=3), True),
        (NodeCounts(desired=6, existing=6, leaving=1), True),
        (NodeCounts(desired=6, existing=6, is_settled=False), True),
    ],
)
def test_a_step_is_under_way_until_what_is_there_is_what_is_wanted(
    counts: NodeCounts, scaling: object
) -> None:
    assert is_scaling(counts) is scaling


@pytest.mark.parametrize("counts", [(None, 3), (3, None)])
def test_counts_that_are_not_known_are_no_counts(counts: tuple[int | None, int | None]) -> None:
    with pytest.raises(NodesUnknown, match="how many compute nodes"):
        is_scaling(NodeCounts(desired=counts[0], existing=counts[1]))


EXCESS = amounts(1001)


@pytest.mark.parametrize(
    ("known", "multi_az", "nodes"),
    [
        ({}, True, 3),
        ({"remaining": amounts(1001, 1000)}, True, 6),
        ({"remaining": amounts(1000, 1001)}, True, 6),
        ({"workload_minimum": 4}, True, 6),
        ({"floor": 4}, True, 6),
        ({"floor": 3, "current": 7, "node_delta": 4}, True, 7),
        ({"floor": 1, "workload_minimum": 1, "current": 5}, False, 5),
        ({"floor": 1, "workload_minimum": 1, "current": 5, "node_delta": 2}, False, 3),
        ({"node_delta": 0}, True, 6),
    ],
)
def test_fewer_nodes_need_excess_of_everything_and_keep_to_the_largest_of_the_bounds(
    known: dict[str, Any], multi_az: object, nodes: int
) -> None:
    report = a_report(**{"remaining": EXCESS, **known})
    assert node_step(report, scaled(multi_az=bool(multi_az))).nodes == nodes
