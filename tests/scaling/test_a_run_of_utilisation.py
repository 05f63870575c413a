"""What one run of the policy `Utilisation` decides, for any pool: the rules E1 to E13."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import inf
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.escalator_groups import EscalatorGroup, mistakes_of_group, utilisation_of_group
from growth.scheduling.resources import Resources
from reconciler.scaling.utilisation.deciding import Run, RunReason, run_once
from reconciler.scaling.utilisation.grace import GracePeriods
from reconciler.scaling.utilisation.group import Group, GroupOptions, PodDemand
from reconciler.scaling.utilisation.health import HealthCheck
from reconciler.scaling.utilisation.lock import LockTimes, ScaleLock
from reconciler.scaling.utilisation.nodes import GroupNode, node_classes_of, oldest_first
from reconciler.scaling.utilisation.percent import Percent, Thresholds, nodes_missing, utilisation
from tests.scheduling.build import patient

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SIZE = Resources({"cpu": 1000, "memory": 1000})
MINUTE = timedelta(minutes=1)
OPTIONS = GroupOptions(
    min_nodes=0,
    max_nodes=20,
    least=0,
    thresholds=Thresholds(10, 40, 70),
    slow_rate=1,
    fast_rate=3,
    lock_times=LockTimes(period=2 * MINUTE, timeout=10 * MINUTE),
    grace=GracePeriods(soft=MINUTE, hard=10 * MINUTE),
)


def node(name: str, **fields: Any) -> GroupNode:
    made: dict[str, Any] = {
        "created": "2025-01-01T00:00:00Z",
        "capacity": SIZE,
        "free": SIZE,
        "is_ready": True,
    }
    return GroupNode(name=name, **(made | fields))


def tainted(name: str, minutes: float = 0, **fields: Any) -> GroupNode:
    return node(name, is_tainted=True, tainted_at=NOW - minutes * MINUTE, **fields)


def asked_for(cpu: int, memory: int = 0) -> PodDemand:
    return PodDemand(pods=1, requests=Resources({"cpu": cpu, "memory": memory}))


NO_PODS = PodDemand()


def group(
    *nodes: GroupNode, demand: PodDemand = NO_PODS, threshold: int = 70, **fields: Any
) -> Group:
    options = {name: fields.pop(name) for name in [*fields] if hasattr(OPTIONS, name)}
    options["thresholds"] = Thresholds(10, min(40, threshold), threshold)
    machines = fields.pop("machines", len(nodes))
    return Group(
        options=msgspec.structs.replace(OPTIONS, **options),
        nodes=nodes,
        demanded=demand,
        machines=machines,
        most=20,
        now=NOW,
        **fields,
    )


def run(*nodes: GroupNode, demand: PodDemand = NO_PODS, **fields: Any) -> Run:
    return run_once(group(*nodes, demand=demand, **fields))


# Utilisation


@given(
    nodes=st.integers(1, 50),
    threshold=st.integers(1, 150),
    cpu=st.integers(0, 200_000),
    memory=st.integers(0, 200_000),
)
@patient
def test_the_missing_nodes_are_just_enough_for_both_resources(
    nodes: int, threshold: int, cpu: int, memory: int
) -> None:
    requests = Resources({"cpu": cpu, "memory": memory})

    def used(count: int) -> Percent:
        have = Resources({"cpu": 1000 * count, "memory": 1000 * count})
        return utilisation(requests, have, nodes=count)

    if used(nodes).larger <= threshold:
        return
    missing = nodes_missing(nodes, used(nodes), threshold=threshold)
    assert used(nodes + missing).larger <= threshold < used(nodes + missing - 1).larger


def test_the_larger_of_both_resources_decides() -> None:
    assert run(node("a"), demand=asked_for(100, 900)).reason is RunReason.ABOVE_THRESHOLD
    assert run(node("a"), demand=asked_for(900, 100)).reason is RunReason.ABOVE_THRESHOLD


def test_without_an_untainted_node_any_request_is_infinitely_much() -> None:
    found = run(tainted("a"), demand=asked_for(1))
    assert found.percent == (inf, inf)
    assert (found.untaints, found.buys) == (("a",), 0)


def test_only_untainted_nodes_are_capacity() -> None:
    found = run(node("a"), tainted("b"), node("c", is_cordoned=True), demand=asked_for(500))
    assert found.percent == (Fraction(50), Fraction(0))


# Up


def test_tainted_nodes_are_used_again_before_machines_are_bought() -> None:
    newer = tainted("new", created="2025-06-01T00:00:00Z")
    found = run(node("a"), tainted("old"), newer, demand=asked_for(2100))
    assert (found.delta, found.untaints, found.buys) == (2, ("new", "old"), 0)
    assert found.lock is None


def test_the_lock_closes_only_if_machines_were_asked_for() -> None:
    found = run(node("a"), demand=asked_for(2100))
    assert found.lock == ScaleLock(since=NOW, requested=2, target=3)


def test_no_more_is_bought_than_the_pool_may_have() -> None:
    found = run(node("a"), demand=asked_for(99_000))
    assert (found.buys, found.problem) == (19, "")
    full = run(node("a"), demand=asked_for(99_000), machines=20)
    assert (full.buys, full.problem) == (0, "the pool may not have more than 20 machines")


def test_below_the_minimum_nodes_are_added_though_the_lock_is_held() -> None:
    lock = ScaleLock(since=NOW, target=3)
    nodes = (node("a"), tainted("b"), node("c", is_cordoned=True))
    found = run(*nodes, min_nodes=3, lock=lock, demand=asked_for(1))
    assert (found.delta, found.untaints, found.buys) == (2, ("b",), 1)


# The lock


@pytest.mark.parametrize(
    "demand", [asked_for(5000), asked_for(500), asked_for(0)], ids=["up", "nothing", "down"]
)
def test_while_the_lock_is_held_nothing_is_done(demand: PodDemand) -> None:
    due = tainted("b", minutes=5)
    found = run(node("a"), due, demand=demand, lock=ScaleLock(since=NOW, requested=4, target=9))
    assert found.reason is RunReason.LOCKED
    assert (found.buys, found.taints, found.untaints) == (0, (), ())
    assert (found.goes, found.drains) == ((), ())


def test_the_run_that_finds_the_machines_does_nothing_yet() -> None:
    lock = ScaleLock(since=NOW - 3 * MINUTE, target=1)
    first = run(node("a"), demand=asked_for(5000), lock=lock)
    assert first.reason is RunReason.LOCKED
    assert (
        run(node("a"), demand=asked_for(5000), lock=first.lock).reason is RunReason.ABOVE_THRESHOLD
    )


def test_a_lock_whose_machine_never_comes_opens_after_its_timeout() -> None:
    at = ScaleLock(since=NOW - 10 * MINUTE, target=9)
    later = ScaleLock(since=NOW - 10 * MINUTE - timedelta(seconds=1), target=9)
    assert run(node("a"), demand=asked_for(500), lock=at).reason is RunReason.LOCKED
    assert run(node("a"), demand=asked_for(500), lock=later).reason is RunReason.WITHIN_THRESHOLDS


# Down


def test_the_oldest_nodes_are_tainted_fast_or_slowly() -> None:
    nodes = [node(f"n{n}", created=f"2025-01-0{9 - n}T00:00:00Z") for n in range(9)]
    assert run(*nodes, demand=asked_for(800)).taints == ("n8", "n7", "n6")
    assert run(*nodes, demand=asked_for(3000)).taints == ("n8",)


def test_nodes_whose_time_has_come_go_before_others_are_tainted() -> None:
    found = run(node("a"), node("b"), tainted("c", minutes=2), min_nodes=1, least=2)
    # With the machine that goes, the pool is at what it must have.
    assert (found.goes, found.taints) == (("c",), ())


def test_a_node_goes_with_its_pods_only_after_the_hard_grace() -> None:
    early, late = (tainted(f"t{m}", minutes=m, is_empty=False) for m in (9, 11))
    found = run(node("a"), early, late, demand=asked_for(500))
    assert (found.goes, found.drains) == ((), ("t11",))


def test_people_protect_a_node_or_want_it_gone_at_once() -> None:
    kept = tainted("kept", minutes=99, is_protected=True)
    empty = node("empty", is_forced=True)
    busy = node("busy", is_forced=True, is_empty=False)
    found = run(node("a"), kept, empty, busy, demand=asked_for(500))
    assert (found.goes, found.drains) == (("empty",), ())


# What may overrule the thresholds


def test_an_old_node_is_followed_by_another_only_at_the_minimum() -> None:
    old = {"max_age": timedelta(days=30), "min_nodes": 1}
    assert run(node("a"), demand=asked_for(500), **old).reason is RunReason.TOO_OLD
    assert run(node("a"), node("b"), demand=asked_for(1000), **old).delta == 0
    assert run(node("a"), tainted("b"), demand=asked_for(500), **old).delta == 0


def test_while_the_newest_nodes_are_broken_their_number_stays() -> None:
    health = HealthCheck(grace=MINUTE, newest_percent=50, most_unhealthy_percent=0)
    broken = node("b", is_ready=False, created="2025-06-01T00:00:00Z")
    found = run(node("a"), broken, demand=asked_for(5000), health=health)
    assert (found.reason, found.delta, found.buys) == (RunReason.UNHEALTHY, 0, 0)
    assert found.taints == ("b",)


# Properties

kinds = st.sampled_from(["untainted", "tainted", "cordoned", "forced"])


@st.composite
def groups(draw: st.DrawFn) -> tuple[GroupNode, ...]:
    nodes = []
    for number, kind in enumerate(draw(st.lists(kinds, max_size=8))):
        day = draw(st.integers(1, 28))
        fields: dict[str, Any] = {
            "created": f"2025-01-{day:02}T00:00:00Z",
            "is_empty": draw(st.booleans()),
            "is_ready": draw(st.booleans()),
            "is_cordoned": kind == "cordoned",
            "is_forced": kind == "forced",
        }
        made = tainted if kind == "tainted" else node
        nodes.append(made(f"n{number}", **fields))
    return tuple(nodes)


@given(
    nodes=groups(),
    demand=st.builds(asked_for, st.integers(0, 20_000), st.integers(0, 20_000)),
    min_nodes=st.integers(0, 5),
    coming=st.integers(0, 5),
    checks=st.booleans(),
)
@patient
def test_whatever_a_pool_is_like_a_run_keeps_its_bounds(
    nodes: tuple[GroupNode, ...], demand: PodDemand, min_nodes: int, coming: int, *, checks: bool
) -> None:
    health = HealthCheck(grace=MINUTE) if checks else None
    machines = len(nodes) + coming
    found = run(*nodes, demand=demand, min_nodes=min_nodes, machines=machines, health=health)
    classes = node_classes_of(nodes)
    cordoned = {each.name for each in classes.cordoned}
    touched = {*found.taints, *found.untaints, *found.goes, *found.drains}
    assert not touched & cordoned
    assert machines + found.buys <= max(20, machines)
    assert (found.lock is not None) == bool(found.buys)
    by_age = {each.name for each in classes.untainted} - set(found.taints)
    if not checks:
        assert len(by_age) >= min(min_nodes, len(classes.untainted))
        in_order = oldest_first(classes.untainted)
        assert list(found.taints) == [each.name for each in in_order][: len(found.taints)]
    if found.buys and not checks:
        assert set(found.untaints) == {each.name for each in classes.tainted}


# Escalator's own file

GROUP = EscalatorGroup(
    name="shared",
    label_key="customer",
    label_value="shared",
    cloud_provider_group_name="shared-nodes",
    min_nodes=1,
    max_nodes=30,
    taint_upper_capacity_threshold_percent=40,
    taint_lower_capacity_threshold_percent=10,
    scale_up_threshold_percent=70,
    slow_node_removal_rate=2,
    fast_node_removal_rate=5,
    soft_delete_grace_period="1m",
    hard_delete_grace_period="10m",
    scale_up_cool_down_period="2m",
)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"min_nodes": 30},
        {"taint_lower_capacity_threshold_percent": 40},
        {"scale_up_threshold_percent": 40},
        {"slow_node_removal_rate": 6},
        {"soft_delete_grace_period": "10"},
        {"soft_delete_grace_period": "10m"},
        {"scale_up_cool_down_period": ""},
        {"scale_up_cool_down_timeout": "2m"},
        {"taint_effect": "invalid"},
        {"max_node_age": "bank"},
        {"unhealthy_node_grace_period": "10"},
    ],
    ids=str,
)
def test_a_mistake_in_a_group_is_told_by_its_option(changes: dict[str, Any]) -> None:
    assert not mistakes_of_group(GROUP)
    (mistake, *_) = mistakes_of_group(GROUP.model_copy(update=changes))
    assert any(option.partition("_")[0] in mistake for option in changes)


def test_a_group_becomes_the_settings_of_a_pool() -> None:
    settings = utilisation_of_group(GROUP.model_copy(update={"max_node_age": "12h"}))
    assert (settings.min_nodes, settings.max_nodes, settings.fast_node_removal_rate) == (1, 30, 5)
    assert (str(settings.max_node_age), str(settings.scale_up_cool_down_timeout)) == ("12h", "10m")
