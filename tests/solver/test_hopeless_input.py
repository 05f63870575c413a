"""Input that nothing can be done about is answered at once, with a reason for each class."""

from __future__ import annotations

from reconciler.solver import (
    HOSTNAME,
    Effort,
    Limit,
    Offer,
    Plan,
    PodClass,
    Problem,
    SpreadRule,
    Stop,
    Together,
    UnplacedCause,
)
from reconciler.solver.packing.solving import solve
from tests.solver.checker import complaints

SMALL = Offer(name="small", type="s1", capacity=(2000, 4096), price=10_000, labels={"zone": "a"})
LARGE = Offer(name="large", type="l1", capacity=(8000, 16384), price=35_000, labels={"zone": "b"})
BOTH = frozenset({"small", "large"})
SOON = 1_000_000
"""Ticks of counted work, a second's worth; `python -m benchmarks hopeless` tells seconds."""


def _problem(*classes: PodClass, offers: tuple[Offer, ...] = (SMALL, LARGE)) -> Problem:
    return Problem(resources=("cpu", "memory"), classes=classes, offers=offers)


def _solved(problem: Problem) -> Plan:
    plan = solve(problem, Effort.QUICK)
    assert complaints(problem, plan) == []
    return plan


def test_ten_thousand_different_pods_that_fit_nowhere_each_get_their_reason() -> None:
    pods = (
        PodClass(name=f"pod-{n:05}", requests=(1_000_000 + n, 1), count=1, offers=BOTH)
        for n in range(10_000)
    )
    plan = _solved(_problem(*pods))
    assert len(plan.unplaced) == 10_000
    assert {one.reason.cause for one in plan.unplaced} == {UnplacedCause.TOO_LARGE}
    assert plan.unplaced[5].reason.needed == 1_000_005
    assert plan.stop is Stop.NOTHING_TO_DO
    assert plan.effort < SOON


def test_a_pod_of_a_million_cores_is_told_what_the_largest_offer_leaves() -> None:
    pod = PodClass(name="huge", requests=(10**9, 1), count=3, offers=BOTH)
    reason = _solved(_problem(pod)).unplaced[0].reason
    assert (reason.resource, reason.needed, reason.available) == ("cpu", 10**9, 8000)
    assert reason.text == "needs 1000000000 of cpu; the largest offer leaves 8000 (l1)"


def test_a_request_beyond_all_numbers_is_only_too_large() -> None:
    pod = PodClass(name="endless", requests=(10**40, 1), count=1, offers=BOTH)
    assert _solved(_problem(pod)).unplaced[0].reason.cause is UnplacedCause.TOO_LARGE


def test_without_any_offer_all_pods_are_told_so() -> None:
    pod = PodClass(name="pod", requests=(1, 1), count=7, offers=frozenset())
    plan = _solved(_problem(pod, offers=()))
    assert plan.unplaced[0].count == 7
    assert plan.unplaced[0].reason.cause is UnplacedCause.NO_OFFERS


def test_a_pod_that_no_offer_is_allowed_for_is_told_which_constraint_left_none() -> None:
    pod = PodClass(
        name="pod",
        requests=(1, 1),
        count=1,
        offers=frozenset(),
        narrowed=(("pool selector", 2), ("node affinity arch=riscv64", 0)),
    )
    reason = _solved(_problem(pod)).unplaced[0].reason
    assert reason.rule == "node affinity arch=riscv64"
    assert reason.text == "0 of 2 offers fit: node affinity arch=riscv64"


def test_without_any_offer_ten_thousand_different_pods_are_told_so() -> None:
    pods = (
        PodClass(name=f"pod-{n:05}", requests=(100 + n, 1), count=1, offers=frozenset())
        for n in range(10_000)
    )
    plan = _solved(_problem(*pods, offers=()))
    assert {one.reason.cause for one in plan.unplaced} == {UnplacedCause.NO_OFFERS}
    assert plan.effort < SOON


def test_pods_that_must_be_near_each_other_and_in_two_places_are_left_out_with_the_rule() -> None:
    near = PodClass(name="near", requests=(100, 100), count=500, offers=frozenset({"small"}))
    far = PodClass(name="far", requests=(100, 100), count=400, offers=frozenset({"large"}))
    problem = Problem(
        resources=("cpu", "memory"),
        classes=(near, far),
        offers=(SMALL, LARGE),
        groups=(Together(name="as one", key="zone", members=frozenset({"near", "far"})),),
    )
    plan = _solved(problem)
    assert [(one.pod_class, one.count, one.reason.rule) for one in plan.unplaced] == [
        ("far", 400, "as one")
    ]
    assert plan.effort < SOON


def test_pods_that_ask_for_nothing_share_the_cheapest_node() -> None:
    pod = PodClass(name="idle", requests=(0, 0), count=1000, offers=BOTH)
    plan = _solved(_problem(pod))
    assert [(node.offer, dict(node.pods)) for node in plan.nodes] == [("small", {"idle": 1000})]
    assert plan.stop is Stop.PROVEN


def test_no_pods_need_no_nodes() -> None:
    plan = _solved(_problem())
    assert (plan.nodes, plan.unplaced, plan.cost, plan.stop) == ((), (), 0, Stop.NOTHING_TO_DO)


def test_pods_that_must_be_together_and_apart_are_left_out_with_the_rule() -> None:
    pod = PodClass(
        name="torn",
        requests=(100, 100),
        count=3,
        offers=BOTH,
        marks=frozenset({"torn"}),
        repels=frozenset({"torn"}),
    )
    problem = Problem(
        resources=("cpu", "memory"),
        classes=(pod,),
        offers=(SMALL, LARGE),
        groups=(Together(name="as one", key=HOSTNAME, members=frozenset({"torn"})),),
    )
    plan = _solved(problem)
    assert plan.unplaced[0].count == 2
    assert plan.unplaced[0].reason.rule == "as one"


def test_a_spread_over_a_place_that_takes_nobody_stops_at_its_skew() -> None:
    pod = PodClass(name="web", requests=(100, 100), count=9, offers=frozenset({"small"}))
    problem = Problem(
        resources=("cpu", "memory"),
        classes=(pod,),
        offers=(SMALL, LARGE),
        groups=(
            SpreadRule(
                name="even",
                key="zone",
                members=frozenset({"web"}),
                max_skew=2,
                domains=frozenset({"a", "b"}),
            ),
        ),
    )
    plan = _solved(problem)
    assert plan.unplaced[0].count == 7
    assert plan.unplaced[0].reason.cause is UnplacedCause.GROUP


def test_a_limit_that_is_reached_is_named_with_its_figures() -> None:
    pod = PodClass(name="web", requests=(8000, 100), count=5, offers=BOTH)
    problem = Problem(
        resources=("cpu", "memory"),
        classes=(pod,),
        offers=(SMALL, LARGE),
        limits=(Limit(name="nodes of pool web", amounts={"small": 1, "large": 1}, most=2),),
    )
    reason = _solved(problem).unplaced[0].reason
    assert (reason.cause, reason.rule) == (UnplacedCause.LIMIT, "nodes of pool web")
    assert reason.text == "limit nodes of pool web allows 2, 2 used; the smallest node needs 1"
