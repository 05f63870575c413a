"""The rules of the policy Desired over time, in the whole loop on a virtual clock."""

from __future__ import annotations

import pytest

from tests.scaling.desired.group import MINUTE, GroupTold


def test_the_wanted_number_is_bought_of_the_preferred_type() -> None:
    told = GroupTold(nodes=3, preferredInstanceType="large")
    told.passes(MINUTE)
    assert told.types == ["large"] * 3
    assert (told.status.desired_nodes, told.status.reason) == (3, "AtDesired")


def test_without_a_preference_the_first_type_is_bought_and_not_the_cheapest() -> None:
    types = [{"name": "large", "max": 20}, {"name": "small", "max": 20}]
    told = GroupTold(nodes=1, types=types)
    told.passes(MINUTE)
    assert told.types == ["large"]


def test_a_type_at_its_maximum_is_followed_by_the_next() -> None:
    types = [{"name": "large", "max": 1}, {"name": "small", "max": 20}]
    told = GroupTold(nodes=3, types=types)
    told.passes(2 * MINUTE)
    assert told.types == ["large", "small", "small"]


def test_the_minimum_is_bought_even_if_less_is_wanted() -> None:
    told = GroupTold(nodes=0, minNodes=2)
    told.passes(MINUTE)
    assert len(told.nodes) == 2


def test_pods_that_wait_raise_the_number_once_and_get_their_nodes() -> None:
    told = GroupTold()
    told.wants(6)
    told.passes(5 * MINUTE)
    assert told.pending() == 0
    assert len(told.nodes) == 3
    assert told.status.desired_nodes == 3


def test_a_batch_is_bought_and_ready_before_the_next() -> None:
    told = GroupTold(nodes=5, scaleUpBatchSize=2)
    told.passes(10 * MINUTE)
    assert len(told.nodes) == 5


def test_pods_stay_pending_at_the_maximum_and_nothing_is_bought_beyond_it() -> None:
    told = GroupTold(maxNodes=2)
    told.wants(8)
    told.passes(5 * MINUTE)
    assert len(told.nodes) == 2
    assert told.pending() == 4


def test_a_pod_that_fits_no_node_of_the_type_buys_nothing() -> None:
    told = GroupTold()
    told.wants(1, cpu="16")
    told.passes(2 * MINUTE)
    assert told.nodes == []


def test_a_person_scales_down_and_the_oldest_goes_after_the_cooldown() -> None:
    told = GroupTold(nodes=2)
    told.passes(2 * MINUTE)
    first = told.nodes
    told.scaled(desiredNodes=3)
    told.passes(2 * MINUTE)
    (newest,) = set(told.nodes) - set(first)
    told.scaled(desiredNodes=1)
    told.passes(MINUTE)
    assert len(told.nodes) == 3
    assert told.holds() == {"Cooldown"}
    told.passes(12 * MINUTE)
    assert told.nodes == [newest]


def test_a_badly_used_node_goes_with_its_pods_after_ten_minutes() -> None:
    told = GroupTold()
    told.wants(8, cpu="900m")
    told.passes(3 * MINUTE)
    assert len(told.nodes) == 2
    told.wants(2)
    told.passes(MINUTE)
    kept, idle = told.nodes
    told.measured.percent = {idle: 10}
    told.passes(7 * MINUTE)
    assert len(told.nodes) == 2
    told.passes(9 * MINUTE)
    assert told.nodes == [kept]
    assert told.pending() == 0
    assert told.status.desired_nodes == 1


def ended_at(point: str) -> tuple[list[str], list[str]]:
    """The nodes before and after a scale-down, with the process ended at an effect."""
    told = GroupTold(nodes=3, scaleDownCooldown="1m", kill=point)
    told.wants(3, cpu="100m")
    told.passes(3 * MINUTE)
    before = told.nodes
    told.scaled(desiredNodes=2)
    told.passes(4 * MINUTE)
    return before, told.nodes


def points() -> list[str]:
    """The effects from the change of the number on."""
    told = GroupTold(nodes=3, scaleDownCooldown="1m")
    told.wants(3, cpu="100m")
    told.passes(3 * MINUTE)
    earlier = len(told.living.lives.points)
    told.scaled(desiredNodes=2)
    told.passes(4 * MINUTE)
    return told.living.lives.points[earlier:]


@pytest.mark.long
def test_a_restart_at_any_moment_of_a_scale_down_ends_in_the_same_number() -> None:
    found = points()
    assert len(found) > 10
    for point in found:
        before, after = ended_at(point)
        assert len(before) == 3
        assert len(after) == 2
        assert set(after) < set(before), f"bought again after an end at {point}"


def test_a_restart_while_nothing_goes_changes_nothing() -> None:
    told = GroupTold(nodes=2)
    told.wants(6, cpu="1900m")
    told.passes(3 * MINUTE)
    before = told.nodes
    told.living.lives.interrupt(down=5.0)
    told.passes(3 * MINUTE)
    assert told.nodes == before
    assert told.status.desired_nodes == 3


def test_a_pool_that_gets_the_policy_keeps_its_nodes() -> None:
    told = GroupTold()
    told.wants(6)
    told.passes(2 * MINUTE)
    before = told.nodes
    told.follows("Demand")
    told.follows("Desired", desiredNodes=1, scaleDownCooldown="1m")
    told.passes(5 * MINUTE)
    assert told.nodes == before
    assert told.status.desired_nodes == 3
