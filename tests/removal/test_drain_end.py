"""The time that a drain may take is limited by its pool: then pods are ended, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.removal_reason import RemovalReason
from reconciler import removal as removing
from reconciler.core.actions import Evict, Evicted
from reconciler.invariants.breach import Invariant
from reconciler.invariants.removing import forbidden
from reconciler.removal.drain.ending import grace_left, seconds_until_ended
from tests.reconciler.build import at, pool
from tests.removal.build import kinds, steps
from tests.removal.test_drain import budget, drained, draining, evicted, running, seen

if TYPE_CHECKING:
    from reconciler.core.world import World

MAY_END = sorted(each for each in RemovalReason if each.meaning.may_end_pods)
SAVING = sorted(each for each in RemovalReason if each.meaning.drains and each.meaning.saves)
BEGAN = 90.0
END = BEGAN + 300.0
USUAL = 30.0
HELD = {"annotations": {"growth.dev/do-not-disrupt": "true"}}


def going(reason: RemovalReason, *objects: Any, period: str | None = "5m") -> World:
    """A drain that has begun in a pool that lets it take five minutes."""
    ours = pool(disruption={"terminationGracePeriod": period} if period else {})
    return seen(draining(reason=reason, began=BEGAN), drained(reason=reason), ours, *objects)


def ended(given: World, seconds: float) -> dict[str, int | None]:
    return {
        each.name: each.ends_within for each in steps(given, seconds) if isinstance(each, Evict)
    }


def test_what_saves_money_never_ends_a_pod() -> None:
    assert MAY_END == ["Drift", "PoolDeleted", "Unhealthy"]
    assert SAVING == ["Consolidation", "Surplus"]


@pytest.mark.parametrize("reason", MAY_END)
def test_a_budget_that_never_yields_holds_a_pod_until_only_its_own_grace_is_left(
    reason: RemovalReason,
) -> None:
    world = going(reason, running(), budget(0))
    assert ended(world, END - USUAL - 1) == {}
    assert ended(world, END - USUAL) == {"web-0": 30}
    assert ended(world, END - 10) == {"web-0": 10}
    assert ended(world, END + 100) == {"web-0": 1}


@pytest.mark.parametrize("reason", MAY_END)
def test_without_a_limit_such_a_pod_is_never_ended(reason: RemovalReason) -> None:
    assert ended(going(reason, running(), budget(0), period=None), END + 1e6) == {}


@pytest.mark.parametrize("reason", SAVING)
def test_a_drain_that_saves_money_is_given_up_whatever_the_limit(reason: RemovalReason) -> None:
    world = going(reason, running(), budget(0))
    assert ended(world, END - 1) == {}
    assert "Delete NodeRemovalRequest" in kinds(world, END + 1)


@pytest.mark.parametrize("reason", MAY_END)
def test_until_then_pods_are_evicted_with_their_own_grace(reason: RemovalReason) -> None:
    assert ended(going(reason, running(), budget(1)), BEGAN + 5) == {"web-0": None}


def test_a_drifted_node_goes_though_a_pod_may_not_be_moved_which_stays_as_long_as_it_can() -> None:
    world = going(RemovalReason.DRIFT, running("web-0", metadata=HELD), running("web-1"))
    assert ended(world, BEGAN + 5) == {"web-1": None}
    assert ended(world, END - USUAL) == {"web-0": 30, "web-1": 30}
    assert "Delete NodeRemovalRequest" not in kinds(world, END - 1)


def test_a_pod_of_high_priority_waits_for_its_turn_no_longer_than_it_can() -> None:
    low, high = running("low"), running("high", priority=1000)
    world = going(RemovalReason.UNHEALTHY, low, high, budget(0))
    assert ended(world, END - USUAL) == {"low": 30, "high": 30}


def test_a_pod_with_a_long_grace_gets_what_is_left_of_the_drain() -> None:
    world = going(RemovalReason.DRIFT, running(terminationGracePeriodSeconds=3600), budget(0))
    assert ended(world, BEGAN + 1) == {"web-0": 299}


def test_a_pod_that_ends_more_slowly_than_the_drain_may_take_is_hurried_at_its_end() -> None:
    slow = {"deletionTimestamp": "2026-01-01T01:00:00Z"}
    world = going(RemovalReason.DRIFT, running(metadata=slow))
    assert ended(world, END - 1) == {}
    assert ended(world, END) == {"web-0": 1}
    hurried = {"deletionTimestamp": "2026-01-01T00:06:31Z"}
    assert ended(going(RemovalReason.DRIFT, running(metadata=hurried)), END) == {}


def test_a_person_who_cordons_or_protects_the_node_still_keeps_it() -> None:
    kept = {"growth.dev/do-not-disrupt": "true"}
    ours = pool(disruption={"terminationGracePeriod": "5m"})
    removal = draining(reason="Drift", began=BEGAN)
    node = drained(reason="Drift", annotations=kept)
    assert ended(seen(removal, node, ours, running()), END + 1) == {}
    assert "Delete NodeRemovalRequest" in kinds(seen(removal, node, ours, running()), END + 1)


def test_a_refusal_is_waited_for_before_the_next_try() -> None:
    said = Evicted(
        pod=Evict(namespace="shop", name="web-0", uid="uid-web-0"), at=END, refused="no", times=1
    )
    world = seen(
        draining(reason="Drift", began=BEGAN),
        drained(reason="Drift"),
        pool(disruption={"terminationGracePeriod": "5m"}),
        running(),
        budget(0),
        evictions={"uid-web-0": said},
    )
    assert ended(world, END + 0.5) == {}
    assert ended(world, END + 1) == {"web-0": 1}


def test_the_loop_wakes_when_the_first_pod_has_to_end() -> None:
    world = going(RemovalReason.UNHEALTHY, running(), budget(0))
    assert removing.decide(world, at(END - USUAL - 5)).wake_at == pytest.approx(END - USUAL)


@given(st.floats(-1000, 1000), st.integers(0, 10_000), st.integers(0, 1000))
def test_a_pod_never_gets_more_than_its_own_grace_or_what_is_left(
    left: float, own: int, later: int
) -> None:
    pod = running(terminationGracePeriodSeconds=own)
    grace = grace_left(pod, left)
    assert 1 <= grace <= max(own, 1)
    assert grace <= max(left + 1, 1)
    assert seconds_until_ended(pod, left, at(100)) == left - own
    assert seconds_until_ended(pod, left + later, at(100)) >= seconds_until_ended(
        pod, left, at(100)
    )


@pytest.mark.parametrize(
    ("reason", "period", "expected"),
    [("Drift", "5m", None), ("Drift", None, "breach"), ("Consolidation", "5m", "breach")],
)
def test_the_invariants_know_where_a_pod_may_be_ended(
    reason: str, period: str | None, expected: str | None
) -> None:
    world = going(RemovalReason(reason), running(), period=period)
    step = Evict(namespace="shop", name="web-0", uid="uid-web-0", ends_within=30)
    breaches = [each.invariant for each in forbidden(step, world, at(END))]
    assert breaches == ([] if expected is None else [Invariant.PODS_KEEP_NODES])


def test_evictions_within_the_time_name_no_end() -> None:
    assert evicted(going(RemovalReason.DRIFT, running())) == ["web-0"]
