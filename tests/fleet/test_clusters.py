"""Clusters come one by one, and go only if nobody misses them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.clusters.deleting import deprovisioning_steps
from fleet.clusters.growing import cluster_to_come, needs_cluster
from fleet.clusters.shrinking import superfluous_clusters
from fleet.core.actions import (
    CreateCluster,
    CreateRecord,
    DeleteCluster,
    DropRecord,
    Equip,
    RemoveAgentAccount,
    RemoveIdentity,
    SetNodes,
    SetState,
    SoftDelete,
)
from fleet.core.clusters import FleetCluster, RegionKey
from fleet.core.states import ClusterState
from fleet.core.world import FleetUnseen, FleetWorld
from fleet.passes import fleet_pass
from tests.fleet.building import KEY, NOW, a_cluster, a_region, a_report, a_sight, amounts

if TYPE_CHECKING:
    from typing import Any

    from fleet.core.actions import ClusterSequence

REGIONS = [KEY, RegionKey("aws", "eu-west-1"), RegionKey("gcp", "us-east-1")]
CLUSTERS = st.lists(
    st.builds(
        a_cluster,
        state=st.sampled_from([state.value for state in ClusterState]),
        key=st.sampled_from(REGIONS),
        instances=st.sampled_from([None, 0, 1]),
        since=st.builds(lambda minutes: NOW - timedelta(minutes=minutes), st.integers(0, 90)),
    ),
    max_size=8,
).map(lambda found: [replace(each, name=f"c{n}") for n, each in enumerate(found)])


def passed(*clusters: FleetCluster, **known: Any) -> tuple[ClusterSequence, ...]:
    regions = known.pop("regions", (a_region(),))
    return fleet_pass(FleetWorld(regions=regions, clusters=clusters, **known), NOW)


@given(CLUSTERS)
def test_whoever_goes_is_empty_and_ready_and_leaves_a_ready_sibling(
    clusters: list[FleetCluster],
) -> None:
    going = superfluous_clusters(clusters)
    for each in going:
        assert (each.state, each.instances) == (ClusterState.READY, 0)
        assert any(
            other.key == each.key and other.state is ClusterState.READY and other not in going
            for other in clusters
        )


@given(CLUSTERS)
def test_a_pass_adds_at_most_one_cluster_to_a_region_and_only_without_a_prospect(
    clusters: list[FleetCluster],
) -> None:
    regions = tuple(a_region(key) for key in REGIONS)
    created = [
        action.record.key
        for sequence in passed(*clusters, regions=regions)
        for action in sequence
        if isinstance(action, CreateRecord)
    ]
    hopeless = {ClusterState.FULL, ClusterState.FAILED}
    expected = [
        key
        for key in REGIONS
        if all(each.state in hopeless for each in clusters if each.key == key)
    ]
    assert set(created) <= set(expected)
    assert len(created) == len(set(created))
    failed = [each.key for each in clusters if each.state is ClusterState.FAILED]
    assert {key for key in expected if failed.count(key) < 2} <= set(created)


@given(CLUSTERS)
def test_a_pass_has_one_sequence_for_a_cluster_at_most(clusters: list[FleetCluster]) -> None:
    sequences = passed(*clusters)
    subjects = [
        action.record.name if isinstance(action, CreateRecord) else action.name
        for action, *_ in sequences
    ]
    assert len(subjects) == len(set(subjects))


def test_of_two_empty_siblings_the_older_one_stays() -> None:
    old = a_cluster("old", instances=0)
    new = a_cluster("new", instances=0, since=NOW - timedelta(minutes=5))
    assert superfluous_clusters([old, new]) == [new]


def test_a_cluster_whose_instances_are_not_known_stays() -> None:
    assert superfluous_clusters([a_cluster("a", instances=None), a_cluster("b")]) == []


def test_a_region_has_no_more_clusters_than_it_may() -> None:
    full = [a_cluster("a", "full"), a_cluster("b", "failed")]
    assert needs_cluster(a_region(most=3), full, now=NOW)
    assert not needs_cluster(a_region(most=2), full, now=NOW)
    assert not needs_cluster(a_region(scales=False), full, now=NOW)


@pytest.mark.parametrize(("failures", "hours"), [(0, 0), (1, 0), (2, 2), (3, 4), (9, 24)])
def test_a_region_whose_clusters_fail_waits_longer_each_time(failures: int, hours: int) -> None:
    failed = [a_cluster(str(n), "failed", since=NOW) for n in range(failures)]
    end = NOW + timedelta(hours=hours)
    assert needs_cluster(a_region(), failed, now=end)
    assert not hours or not needs_cluster(a_region(), failed, now=end - timedelta(seconds=1))


def test_a_cluster_that_never_comes_has_failed() -> None:
    late = a_cluster("a", "cluster_provisioning", since=NOW - timedelta(hours=2, seconds=1))
    failed = (SetState("a", ClusterState.FAILED),)
    for sights in ({}, {"a": a_sight(progress="installing")}):
        assert passed(late, a_cluster("b"), sights=sights) == (failed,)
    there = passed(late, a_cluster("b"), sights={"a": a_sight()})
    assert there == ((SetState("a", ClusterState.PROVISIONED),),)


def test_a_cluster_goes_only_by_a_count_that_came_after_it_was_chosen() -> None:
    chosen = a_cluster("a", "deprovisioning", instances=0, since=NOW)
    sibling = a_cluster("b")
    soon = replace(chosen, counted_at=NOW + timedelta(seconds=59))
    later = replace(chosen, counted_at=NOW + timedelta(seconds=60))
    for early in (chosen, soon, replace(chosen, instances=None)):
        assert deprovisioning_steps(early, [early, sibling]) == ()
    assert deprovisioning_steps(later, [later, sibling]) == STEPS


def test_a_cluster_that_counts_as_gone_takes_no_place_in_its_region() -> None:
    gone = a_cluster("a", "deprovisioning", is_soft_deleted=True)
    assert needs_cluster(a_region(most=1), [gone], now=NOW)


def test_deciding_twice_on_the_same_clusters_gives_the_same_name_and_a_later_need_another() -> None:
    full = a_cluster("a", "full")
    again = replace(full, since=NOW + timedelta(days=1))
    first = cluster_to_come(a_region(), [full], now=NOW)
    assert cluster_to_come(a_region(), [full], now=NOW + timedelta(seconds=9)).name == first.name
    assert cluster_to_come(a_region(), [again], now=NOW).name != first.name
    assert first.name.startswith("us-east-1-")


def test_a_cluster_returns_if_its_sibling_has_become_full() -> None:
    leaving = a_cluster("a", "deprovisioning", instances=0)
    full = a_cluster("b", "full")
    assert deprovisioning_steps(leaving, [leaving, full]) == (SetState("a", ClusterState.READY),)


def test_a_cluster_returns_if_it_is_used_again() -> None:
    leaving, ready = a_cluster("a", "deprovisioning", instances=1), a_cluster("b")
    assert deprovisioning_steps(leaving, [leaving, ready]) == (SetState("a", ClusterState.READY),)


STEPS = (DeleteCluster("a"), SoftDelete("a"), RemoveIdentity("a"), RemoveAgentAccount("a"))


def test_a_cluster_is_deleted_in_order_and_its_record_goes_when_nothing_is_left() -> None:
    leaving = a_cluster("a", "deprovisioning", instances=0)
    assert passed(leaving, a_cluster("b"), sights={"a": a_sight()}) == (STEPS,)

    asked = replace(leaving, is_asked_to_go=True)
    assert passed(asked, a_cluster("b", "full"), sights={"a": a_sight()})[0] == STEPS

    gone = replace(asked, is_soft_deleted=True)
    ready = a_cluster("b")
    assert passed(gone, ready, sights={"a": a_sight(is_deleting=True)}) == ()
    assert passed(gone, ready, sights={"a": a_sight()}) == ((DeleteCluster("a"),),)
    assert passed(gone, ready) == ((*STEPS[2:], DropRecord("a")),)


def test_a_cluster_that_a_person_deletes_needs_no_sibling() -> None:
    by_hand = a_cluster("a", "failed", is_deleted_by_hand=True)
    assert passed(by_hand, sights={"a": a_sight()})[0] == STEPS


@pytest.mark.parametrize(
    ("state", "sight", "sequence"),
    [
        (
            "cluster_accepted",
            None,
            (CreateCluster("a"), SetState("a", ClusterState.PROVISIONING)),
        ),
        ("cluster_provisioning", None, (CreateCluster("a"),)),
        ("cluster_provisioning", a_sight(progress="pending"), ()),
        (
            "cluster_provisioning",
            a_sight(progress="ready"),
            (SetState("a", ClusterState.PROVISIONED),),
        ),
        (
            "cluster_provisioning",
            a_sight(progress="error"),
            (SetState("a", ClusterState.FAILED),),
        ),
        ("cluster_provisioned", a_sight(is_equipped=False), (Equip("a"),)),
        ("cluster_provisioned", a_sight(), (SetState("a", ClusterState.WAITING),)),
        ("ready", a_sight(), ()),
    ],
)
def test_a_cluster_goes_its_way_step_by_step(
    state: str, sight: object, sequence: ClusterSequence
) -> None:
    sights = {} if sight is None else {"a": sight}
    ready = a_cluster("b")
    assert passed(a_cluster("a", state), ready, sights=sights) == ((sequence,) if sequence else ())


def test_a_report_changes_the_state_before_the_nodes() -> None:
    report = a_report(remaining=amounts(0))
    told = passed(a_cluster("a"), sights={"a": a_sight()}, reports={"a": report})
    assert told == ((SetState("a", ClusterState.SCALING_UP), SetNodes("a", 9)),)


def test_a_sibling_that_becomes_full_in_this_pass_keeps_an_empty_cluster() -> None:
    full = a_report(remaining=amounts(0), current=12)
    empty, other = a_cluster("a", instances=0), a_cluster("b")
    world = {"sights": {"b": a_sight(12)}}
    assert passed(empty, other, **world) == ((SetState("a", ClusterState.DEPROVISIONING),),)
    told = passed(empty, other, **world, reports={"b": full})
    assert told == ((SetState("b", ClusterState.FULL),),)


def test_nothing_is_decided_while_clusters_are_unknown() -> None:
    with pytest.raises(FleetUnseen):
        fleet_pass(FleetWorld(regions=(a_region(),), clusters=None), NOW)


def test_a_cluster_of_a_region_that_no_fleet_names_is_left_alone() -> None:
    report = a_report(remaining=amounts(0))
    empty = a_cluster("a", instances=0)
    assert passed(empty, a_cluster("b"), regions=(), reports={"a": report}) == ()
