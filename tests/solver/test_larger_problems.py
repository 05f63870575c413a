"""Problems too large to prove: every plan keeps every rule, and no plan is below its bound."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from benchmarks.workloads import catalogue, workload
from reconciler.solver import (
    HOSTNAME,
    Apart,
    Effort,
    Group,
    Limit,
    Minimum,
    Near,
    Offer,
    Plan,
    PodClass,
    Problem,
    SpreadRule,
    Stop,
    Together,
)
from reconciler.solver.packing.solving import solve, solve_by_first_fit, solve_counted
from tests.solver.checker import complaints

HETZNER = catalogue("hetzner", 0)
NAMES = frozenset(offer.name for offer in HETZNER)


def _crowd(pods: str, seed: int, *, classes: int = 30, count: int = 600) -> Problem:
    return workload(
        offers=HETZNER, pods=pods, constraints="on", classes=classes, count=count, seed=seed
    )


def _left_out(plan: Plan) -> int:
    return sum(one.count for one in plan.unplaced)


def _solved(problem: Problem, effort: Effort = Effort.QUICK) -> Plan:
    plan = solve(problem, effort)
    first_fit = solve_by_first_fit(problem)
    assert complaints(problem, plan) == []
    assert complaints(problem, first_fit) == []
    assert plan.rank <= first_fit.rank
    assert (plan.first_fit_unplaced, plan.first_fit_cost) == (_left_out(first_fit), first_fit.cost)
    return plan


@pytest.mark.parametrize("pods", ["kb", "heavy", "big"])
@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_is_placed_for_less_than_first_fit_pays(pods: str, seed: int) -> None:
    plan = _solved(_crowd(pods, seed))
    assert _left_out(plan) == 0
    assert plan.cost < plan.first_fit_cost
    assert plan.bound > 0


def _with_followers(problem: Problem, key: str) -> Problem:
    """Every third class follows another one."""
    names = [pod.name for pod in problem.classes]
    random.Random(1).shuffle(names)
    pairs = zip(names[0::3], names[1::3], strict=False)
    groups = tuple(
        Near(
            name=f"near {follower}", key=key, members=frozenset({follower}), anchors=frozenset({a})
        )
        for follower, a in pairs
    )
    offers = tuple(replace(o, labels={**o.labels, "zone": o.location}) for o in problem.offers)
    return replace(problem, offers=offers, groups=groups)


@pytest.mark.parametrize("key", ["zone", HOSTNAME])
def test_many_pods_that_must_be_near_others_cost_little_more(key: str) -> None:
    crowd = workload(offers=HETZNER, pods="kb", constraints="off", classes=20, count=200, seed=0)
    plan = _solved(_with_followers(crowd, key))
    assert _left_out(plan) == 0
    assert plan.cost <= 1.02 * solve(crowd, Effort.QUICK).cost


@pytest.mark.parametrize("seed", range(2))
def test_contents_of_few_large_pods_are_found_within_a_quick_effort(seed: int) -> None:
    plan = _solved(_crowd("big", seed, classes=50, count=300))
    assert _left_out(plan) == 0
    assert plan.gap < 0.03


def test_more_effort_never_makes_a_plan_dearer() -> None:
    problem = _crowd("heavy", 1)
    assert solve(problem, Effort.NORMAL).cost <= solve(problem, Effort.QUICK).cost


def test_a_normal_effort_ends_when_half_a_percent_is_left_and_a_thorough_one_goes_on() -> None:
    problem = _crowd("kb", 0, classes=100, count=10_000)
    normal = solve(problem, Effort.NORMAL)
    assert normal.stop is Stop.GAP
    assert Effort.QUICK.content < normal.gap <= Effort.NORMAL.content
    assert normal.effort < Effort.QUICK.value
    assert solve_counted(problem, 700_000, content=Effort.THOROUGH.content).cost < normal.cost


def test_each_plan_on_the_way_is_complete_and_no_dearer_than_the_one_before() -> None:
    problem = _crowd("heavy", 2)
    plans: list[Plan] = []
    last = solve(problem, watch=plans.append)
    costs = [plan.cost for plan in plans]
    assert len(plans) > 1
    assert [complaints(problem, plan) for plan in plans] == [[]] * len(plans)
    assert costs == sorted(costs, reverse=True)
    assert plans[-1].cost == last.cost


def _grouped(seed: int) -> Problem:
    """A crowd in which most classes are under some rule of their own."""
    chance = random.Random(seed)
    problem = _crowd("kb", seed, classes=20, count=300)
    groups: list[Group] = []
    for number, pod in enumerate(problem.classes):
        members = frozenset({pod.name})
        name = f"group-{number:02}"
        match chance.randrange(6):
            case 0:
                groups.append(SpreadRule(name=name, key="zone", members=members, max_skew=1))
            case 1:
                groups.append(SpreadRule(name=name, key=HOSTNAME, members=members, max_skew=2))
            case 2:
                groups.append(Apart(name=name, key=HOSTNAME, members=members))
            case 3:
                groups.append(Together(name=name, key="zone", members=members))
            case 4 if pod.count < 8:
                groups.append(Together(name=name, key=HOSTNAME, members=members))
            case _:
                pass
    return replace(problem, groups=tuple(groups))


@pytest.mark.parametrize("seed", range(6))
def test_a_crowd_under_rules_of_all_kinds_keeps_them(seed: int) -> None:
    assert _left_out(_solved(_grouped(seed))) == 0


@pytest.mark.parametrize("seed", range(3))
def test_ports_and_one_sided_repulsion_are_kept_in_a_crowd(seed: int) -> None:
    problem = _crowd("kb", seed)
    rivals = tuple(
        replace(
            pod,
            marks=frozenset({f"port-{number % 3}"} if number % 2 else {"quiet"}),
            repels=frozenset({f"port-{number % 3}"} if number % 2 else {"port-1"}),
        )
        for number, pod in enumerate(problem.classes)
    )
    assert _left_out(_solved(replace(problem, classes=rivals))) == 0


def _beside_nodes(problem: Problem, count: int) -> Problem:
    """The same in a cluster with so many nodes that every pod may use."""
    there = tuple(
        Offer(name=f"there-{n:02}", capacity=(7000 + 100 * n, 14000, 100, 10**6), exists=True)
        for n in range(count)
    )
    names = frozenset(offer.name for offer in there)
    classes = tuple(replace(pod, offers=pod.offers | names) for pod in problem.classes)
    return replace(problem, offers=(*problem.offers, *there), classes=classes)


def _use_of_nodes(problem: Problem, plan: Plan, resource: int) -> float:
    """The share that the plan takes of a resource of all nodes that exist."""
    there = {offer.name for offer in problem.offers if offer.exists}
    requests = {pod.name: pod.requests[resource] for pod in problem.classes}
    used = sum(
        requests[name] * count
        for node in plan.nodes
        if node.offer in there
        for name, count in node.pods.items()
    )
    return used / sum(offer.capacity[resource] for offer in problem.offers if offer.exists)


@pytest.mark.parametrize("seed", range(3))
def test_nodes_that_exist_are_filled_before_any_is_bought(seed: int) -> None:
    problem = _beside_nodes(_crowd("kb", seed, count=300), 20)
    plan = _solved(problem)
    assert _left_out(plan) == 0
    assert max(_use_of_nodes(problem, plan, resource) for resource in range(2)) > 0.9


def test_plans_beside_nodes_that_exist_are_close_to_their_bounds() -> None:
    # One alone may be 10 % away: it buys a dozen nodes at most, and the bound allows fractions.
    plans = [_solved(_beside_nodes(_crowd("kb", seed, count=300), 20)) for seed in range(3)]
    assert sum(plan.cost for plan in plans) < 1.06 * sum(plan.bound for plan in plans)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_bought_where_the_nodes_that_exist_have_room_for_all(seed: int) -> None:
    plan = _solved(_beside_nodes(_crowd("kb", seed, count=300), 80))
    assert (plan.cost, plan.bound, _left_out(plan)) == (0, 0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_when_a_limit_binds_the_least_important_go_without(seed: int) -> None:
    problem = _crowd("kb", seed)
    classes = tuple(
        replace(pod, priority=number % 2, offers=NAMES)
        for number, pod in enumerate(problem.classes)
    )
    free = solve(replace(problem, classes=classes), Effort.QUICK)
    spend = Limit(
        name="cost",
        amounts={offer.name: offer.price for offer in HETZNER},
        most=free.cost * 7 // 10,
    )
    plan = _solved(replace(problem, classes=classes, limits=(spend,)))
    assert plan.cost <= spend.most
    assert _left_out(plan) > 0
    assert {one.priority for one in plan.unplaced} == {0}


def test_maxima_of_types_are_kept_and_minima_are_bought() -> None:
    problem = _crowd("heavy", 4)
    few = tuple(replace(offer, most=2) if offer.type == "cx53" else offer for offer in HETZNER)
    warm = Minimum(
        name="warm", offers=frozenset(o.name for o in HETZNER if o.type == "ccx13"), count=3
    )
    plan = _solved(replace(problem, offers=few, minima=(warm,)))
    kinds = [node.offer.split("/")[0] for node in plan.nodes]
    assert kinds.count("ccx13") == 3
    assert kinds.count("cx53") <= 6


def test_pools_of_a_higher_weight_are_filled_first_and_each_step_has_its_bound() -> None:
    problem = _crowd("kb", 5)
    weighted = tuple(
        replace(offer, weight=10 if offer.type == "ccx13" else 0, most=4) for offer in HETZNER
    )
    names = frozenset(pod.name for pod in problem.classes if len(pod.offers) > 40)
    classes = tuple(pod for pod in problem.classes if pod.name in names)
    plan = _solved(replace(problem, classes=classes, offers=weighted))
    assert [step.weight for step in plan.steps] == [10, 0]
    assert all(step.cost >= step.bound for step in plan.steps)
    assert sum(node.offer.startswith("ccx13") for node in plan.nodes) == 12


def test_each_bought_node_says_what_the_next_best_would_have_cost() -> None:
    pod = PodClass(name="web", requests=(3000, 5000, 1, 0), count=1, offers=NAMES)
    problem = Problem(
        resources=("cpu", "memory", "pods", "ephemeral-storage"), classes=(pod,), offers=HETZNER
    )
    plan = _solved(problem)
    assert plan.stop is Stop.PROVEN
    best = plan.nodes[0]
    assert best.offer.startswith("cx33/")
    assert best.next_best is not None
    assert (best.next_best.type, best.next_best.price) == ("cax21", 17611)


def test_first_fit_alone_keeps_the_rules_too() -> None:
    for seed in range(3):
        problem = _grouped(seed)
        plan = solve_by_first_fit(problem)
        assert complaints(problem, plan) == []
        assert _left_out(plan) == 0


def _without_one(problem: Problem, seed: int) -> Problem:
    gone = random.Random(seed).choice([pod for pod in problem.classes if pod.count])
    fewer = tuple(
        replace(pod, count=pod.count - 1) if pod is gone else pod for pod in problem.classes
    )
    return replace(problem, classes=fewer)


@pytest.mark.parametrize("seed", range(20))
def test_a_pod_less_never_makes_the_proven_optimum_dearer(seed: int) -> None:
    problem = _crowd(("kb", "heavy")[seed % 2], seed, classes=6, count=12)
    costs = []
    while sum(pod.count for pod in problem.classes) > 8:
        plan = _solved(problem, Effort.NORMAL)
        assert plan.stop is Stop.PROVEN
        costs.append(plan.cost)
        problem = _without_one(problem, seed)
    assert costs == sorted(costs, reverse=True)


def test_whom_limits_leave_no_node_costs_the_others_no_bound() -> None:
    problem = _crowd("kb", 1)
    largest = {offer.name for offer in HETZNER if offer.type == "ccx63"}
    vast = PodClass(name="vast", requests=(40_000, 10_000, 1, 0), count=2, offers=NAMES, priority=9)
    none = Limit(name="max of ccx63", amounts=dict.fromkeys(largest, 1), most=0)
    plan = _solved(replace(problem, classes=(*problem.classes, vast), limits=(none,)))
    assert [(one.pod_class, one.reason.rule) for one in plan.unplaced] == [("vast", none.name)]
    assert plan.gap < 0.2


def test_the_safety_clock_is_reported_when_it_fires() -> None:
    plan = solve(_crowd("heavy", 1), seconds=0.0)
    assert plan.stop is Stop.CLOCK
    assert _left_out(plan) == 0


@pytest.mark.long
@pytest.mark.parametrize("listed", ["aws", "hetzner"])
@pytest.mark.parametrize("pods", ["kb", "heavy", "big"])
@pytest.mark.parametrize(("classes", "count"), [(100, 10_000), (1000, 10_000), (100, 50_000)])
def test_the_large_workloads_of_the_benchmarks_keep_all_rules(
    listed: str, pods: str, classes: int, count: int
) -> None:
    offers = catalogue(listed, 0)
    problem = workload(
        offers=offers, pods=pods, constraints="on", classes=classes, count=count, seed=0
    )
    assert _left_out(_solved(problem, Effort.NORMAL)) == 0


@pytest.mark.long
def test_five_thousand_different_pods_are_placed() -> None:
    problem = workload(
        offers=HETZNER, pods="heavy", constraints="on", classes=5000, count=5000, seed=0
    )
    assert _left_out(_solved(problem)) == 0
