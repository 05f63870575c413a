"""Problems small enough to try everything: the solver's answer is the best one there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort, Near, Offer, PodClass, Problem, Stop
from reconciler.solver.model.problem import HOSTNAME, SpreadRule
from reconciler.solver.packing.solving import solve
from tests.solver.brute_force import Rank, optimum
from tests.solver.checker import complaints
from tests.solver.problems import near, plain, ruled, spread_over_nodes

if TYPE_CHECKING:
    from reconciler.solver import Plan

BATCH = 50


def _rank(problem: Problem, plan: Plan) -> Rank:
    priorities = sorted({pod.priority for pod in problem.classes}, reverse=True)
    left = dict.fromkeys(priorities, 0)
    for one in plan.unplaced:
        left[one.priority] += one.count
    return tuple(left[priority] for priority in priorities), plan.cost


def _solved_as_by_trying_everything(problem: Problem) -> None:
    plan = solve(problem)
    best = optimum(problem)
    wrong = complaints(problem, plan)
    if best is None:  # A minimum that can't be had; the rest of the plan must still be right.
        assert [what for what in wrong if not what.startswith("minimum")] == []
        return
    assert wrong == []
    assert _rank(problem, plan) == best
    assert plan.bound <= best[1]
    assert plan.stop in {Stop.PROVEN, Stop.NOTHING_TO_DO}


def _two_currencies(most: int | None = None) -> Problem:
    """Three pods of which two fill a node; in euros one costs 9 or 8, in dollars 1."""
    offers = (
        Offer(name="euros", type="a", capacity=(2,), price=9, currency="EUR", most=most),
        Offer(name="fewer", type="b", capacity=(2,), price=8, currency="EUR", most=0),
        Offer(name="dollars", type="c", capacity=(2,), price=1, currency="USD"),
    )
    web = PodClass(name="web", requests=(1,), count=3, offers=frozenset(o.name for o in offers))
    return Problem(resources=("cpu",), classes=(web,), offers=offers)


def test_prices_of_two_currencies_are_not_compared() -> None:
    plan = solve(_two_currencies())
    assert [node.offer for node in plan.nodes] == ["euros", "euros"]
    assert plan.is_in_one_currency


def test_a_currency_that_is_used_up_leaves_the_rest_to_the_next() -> None:
    plan = solve(_two_currencies(most=1))
    assert [node.offer for node in plan.nodes] == ["dollars", "euros"]
    assert [(step.currency, step.cost) for step in plan.steps] == [("EUR", 9), ("USD", 1)]
    assert not plan.is_in_one_currency


def test_the_next_best_is_of_the_same_currency() -> None:
    best = {node.offer: node.next_best for node in solve(_two_currencies(most=1)).nodes}
    assert best["dollars"] is None
    assert best["euros"] is not None
    assert best["euros"].offer == "fewer"


def _pods_beside_full_nodes() -> Problem:
    """Five nodes without room that run four pods each, and five more of these pods."""
    full = tuple(Offer(name=f"full-{number}", capacity=(0,), exists=True) for number in range(5))
    offers = (*full, Offer(name="new", capacity=(5,), price=7))
    anywhere = frozenset(offer.name for offer in offers)
    spread = SpreadRule(
        name="web",
        key=HOSTNAME,
        members=frozenset({"web"}),
        max_skew=1,
        running={offer.name: 4 for offer in full},
    )
    return Problem(
        resources=("cpu",),
        offers=offers,
        classes=(PodClass(name="web", requests=(1,), count=5, offers=anywhere),),
        groups=(spread,),
    )


def test_pods_that_are_spread_over_full_nodes_are_all_placed_on_new_ones() -> None:
    problem = _pods_beside_full_nodes()
    plan = solve(problem)
    assert optimum(problem) == ((0,), 7)
    assert complaints(problem, plan) == []
    assert plan.unplaced == ()


def test_pods_that_are_spread_over_full_nodes_share_one_new_node() -> None:
    assert solve(_pods_beside_full_nodes()).cost == 7


def test_an_anchor_goes_where_its_follower_can_go_whatever_the_weights() -> None:
    offers = (
        Offer(name="preferred", capacity=(4,), price=5, weight=9),
        Offer(name="other", capacity=(4,), price=5),
    )
    anchor = PodClass(
        name="anchor", requests=(1,), count=1, offers=frozenset({"preferred", "other"})
    )
    follower = PodClass(name="follower", requests=(1,), count=1, offers=frozenset({"other"}))
    group = Near(
        name="near",
        key=HOSTNAME,
        members=frozenset({"follower"}),
        anchors=frozenset({"anchor"}),
    )
    plan = solve(
        Problem(resources=("cpu",), offers=offers, classes=(anchor, follower), groups=(group,))
    )
    assert [(node.offer, len(node.pods)) for node in plan.nodes] == [("other", 2)]


@pytest.mark.parametrize("start", range(0, 300, BATCH))
def test_a_plain_problem_is_solved_as_by_trying_everything(start: int) -> None:
    for seed in range(start, start + BATCH):
        _solved_as_by_trying_everything(plain(seed))


@pytest.mark.parametrize("start", range(0, 700, BATCH))
def test_a_problem_with_every_rule_is_solved_as_by_trying_everything(start: int) -> None:
    for seed in range(start, start + BATCH):
        _solved_as_by_trying_everything(ruled(seed))


@pytest.mark.parametrize("start", range(0, 20, 10))
def test_a_problem_with_followers_is_solved_as_by_trying_everything(start: int) -> None:
    for seed in range(start, start + 10):
        _solved_as_by_trying_everything(near(seed))


@pytest.mark.parametrize("start", range(0, 300, BATCH))
def test_pods_that_are_spread_over_nodes_get_the_fewest_nodes_that_the_rule_allows(
    start: int,
) -> None:
    for seed in range(start, start + BATCH):
        _solved_as_by_trying_everything(spread_over_nodes(seed))


@pytest.mark.parametrize(
    ("pods", "count"), [("kb", 20), ("kb", 50), ("heavy", 20), ("heavy", 50), ("big", 20)]
)
@pytest.mark.parametrize("seed", range(3))
def test_few_pods_on_few_nodes_of_a_real_price_list_are_proven(
    pods: str, count: int, seed: int
) -> None:
    offers = catalogue("hetzner", 0)
    problem = workload(
        offers=offers, pods=pods, constraints="on", classes=10, count=count, seed=seed
    )
    plan = solve(problem)
    assert complaints(problem, plan) == []
    assert plan.stop is Stop.PROVEN
    assert plan.cost == plan.bound


@pytest.mark.parametrize("seed", range(4))
def test_a_small_problem_that_is_not_proven_soon_is_packed_well_all_the_same(seed: int) -> None:
    problem = workload(
        offers=catalogue("aws", seed), pods="kb", constraints="on", classes=10, count=40, seed=seed
    )
    plan = solve(problem, Effort.QUICK)
    assert complaints(problem, plan) == []
    assert plan.gap < 0.15


@pytest.mark.long
@pytest.mark.parametrize("start", range(1000, 6000, BATCH))
def test_thousands_of_small_problems_are_solved_as_by_trying_everything(start: int) -> None:
    for seed in range(start, start + BATCH):
        _solved_as_by_trying_everything(plain(seed) if seed % 3 == 0 else ruled(seed))


@pytest.mark.long
@pytest.mark.parametrize("start", range(20, 220, 20))
def test_hundreds_of_problems_with_followers_are_solved_as_by_trying_everything(start: int) -> None:
    for seed in range(start, start + 20):
        _solved_as_by_trying_everything(near(seed))


def test_bytes_are_no_trouble_where_a_pod_asks_for_none() -> None:
    room = (64_000, 2**42, 2**44)
    offers = (Offer(name="huge", capacity=room, price=9),)
    classes = tuple(
        PodClass(name=name, requests=asked, count=5, offers=frozenset({"huge"}))
        for name, asked in (("none", (500, 2**28, 0)), ("some", (500, 0, 2**29)))
    )
    names = ("cpu", "memory", "ephemeral-storage")
    plan = solve(Problem(resources=names, offers=offers, classes=classes))
    assert (plan.cost, plan.unplaced) == (9, ())
