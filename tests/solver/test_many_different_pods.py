"""Thousands of pods of which no two are alike: an answer soon, and a true one."""

from __future__ import annotations

import random

import pytest

from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort, Limit, Offer, Plan, PodClass, Problem
from reconciler.solver.arrays.coarse import PACKED, to_bound, to_pack
from reconciler.solver.arrays.setting import setting_of
from reconciler.solver.model.lots import Lot, OfferArrays, ground_of, relaxed_lots_of
from reconciler.solver.packing.solving import solve
from tests.solver.checker import complaints

SOON = 4_000_000
"""Ticks: a few seconds of work on any machine; without a limit it was twenty times as much."""


def different(
    count: int, *, listed: str = "hetzner", pods: str = "heavy", seed: int = 0
) -> Problem:
    return workload(
        offers=catalogue(listed, 0),
        pods=pods,
        constraints="on",
        classes=count,
        count=count,
        seed=seed,
    )


def solved_soon(problem: Problem) -> Plan:
    plan = solve(problem, Effort.QUICK)
    assert complaints(problem, plan) == []
    assert plan.effort < SOON
    assert (len(plan.unplaced), plan.cost) <= (plan.first_fit_unplaced, plan.first_fit_cost)
    return plan


@pytest.mark.parametrize("pods", ["heavy", "big"])
def test_two_thousand_different_pods_are_placed_soon_and_near_the_bound(pods: str) -> None:
    plan = solved_soon(different(2000, pods=pods))
    assert plan.unplaced == ()
    assert plan.cost < plan.first_fit_cost / 2
    assert 0 < plan.gap < 0.2


@pytest.mark.long
@pytest.mark.parametrize("listed", ["aws", "hetzner"])
@pytest.mark.parametrize("pods", ["heavy", "big"])
@pytest.mark.parametrize("count", [5000, 20_000])
def test_any_number_of_different_pods_is_placed_soon(listed: str, pods: str, count: int) -> None:
    plan = solved_soon(different(count, listed=listed, pods=pods))
    assert plan.unplaced == ()


def test_different_pods_that_a_limit_leaves_out_each_get_a_reason_soon() -> None:
    problem = different(1500)
    few = Limit(name="nodes", amounts=dict.fromkeys((o.name for o in problem.offers), 1), most=20)
    limited = Problem(
        resources=problem.resources,
        classes=problem.classes,
        offers=problem.offers,
        limits=(few,),
    )
    plan = solved_soon(limited)
    assert len(plan.nodes) <= 20
    assert {one.reason.rule for one in plan.unplaced} == {"nodes"}


def crowded(monkeypatch: pytest.MonkeyPatch) -> tuple[Problem, OfferArrays, list[Lot]]:
    """More lots than are packed one by one, here where few are too many already."""
    monkeypatch.setattr("reconciler.solver.arrays.coarse.PACKED", 100)
    monkeypatch.setattr("reconciler.solver.arrays.coarse.CLASSES_TIMES_PODS", 1)
    monkeypatch.setattr("reconciler.solver.arrays.coarse.BOUNDED", 150)
    problem = different(600, listed="hetzner", pods="big").in_order()
    ground = ground_of(problem)
    return problem, ground, relaxed_lots_of(problem, ground)


def test_what_is_packed_is_never_smaller_and_what_is_bounded_never_larger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, ground, lots = crowded(monkeypatch)
    packed, bounded = to_pack(lots, ground), to_bound(lots, ground)
    for lot, large, small in zip(lots, packed, bounded, strict=True):
        assert large.pods == lot.pods == small.pods
        assert all(s <= r for s, r in zip(small.requests, lot.requests, strict=True))
        assert all(r <= up for r, up in zip(lot.requests, large.requests, strict=True))
    assert len({lot.key for lot in packed}) < len(lots) / 2
    assert len({lot.key for lot in bounded}) <= 150


def test_a_plan_of_enlarged_pods_keeps_every_rule_and_its_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = solve(different(600, pods="big"), Effort.QUICK)
    problem, _, _ = crowded(monkeypatch)
    assert not setting_of(problem).is_exact
    plan = solved_soon(problem)
    assert plan.unplaced == ()
    assert 0 < plan.bound <= exact.cost
    cheaper = [n for n in plan.nodes if n.next_best is not None and n.next_best.price < n.price]
    assert cheaper == []


def test_a_pod_that_fits_nowhere_when_enlarged_is_packed_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reconciler.solver.arrays.coarse.PACKED", 1)
    monkeypatch.setattr("reconciler.solver.arrays.coarse.CLASSES_TIMES_PODS", 1)
    offers = (
        Offer(name="tall", capacity=(1000, 1100), price=10),
        Offer(name="wide", capacity=(1100, 1000), price=10),
    )
    chance = random.Random(1)
    classes = tuple(
        PodClass(
            name=f"pod-{number}",
            requests=chance.choice([(1000, 1040 + number), (1040 + number, 1000)]),
            count=1,
            offers=frozenset({"tall", "wide"}),
        )
        for number in range(50)
    )
    problem = Problem(resources=("cpu", "memory"), classes=classes, offers=offers)
    assert solved_soon(problem).unplaced == ()


def test_few_different_pods_are_packed_and_bounded_as_they_are() -> None:
    problem = different(PACKED // 2)
    setting = setting_of(problem.in_order())
    assert setting.is_exact
    assert setting.table is setting.relaxed
