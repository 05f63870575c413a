"""Nodes that exist and minima cost nothing more: they mustn't hide what can be bought."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from benchmarks.living import with_nodes, with_rules
from benchmarks.workloads import catalogue, workload
from reconciler.solver import Limit, Minimum, Offer, PodClass, Problem, Stop, Together
from reconciler.solver.arrays.setting import setting_of
from reconciler.solver.bound import relax as relaxing
from reconciler.solver.bound.bound import DualValues, lower_bound, most_value, rents
from reconciler.solver.bound.exact import tighten
from reconciler.solver.bound.master import Master
from reconciler.solver.bound.relax import relax
from reconciler.solver.model.budget import Budget
from reconciler.solver.packing.solving import solve
from tests.solver.checker import complaints


def _problem(*offers: Offer, requests: int = 6, count: int = 5, **fields: object) -> Problem:
    names = frozenset(offer.name for offer in offers)
    pods = PodClass(name="web", requests=(requests,), count=count, offers=names)
    return Problem(resources=("cpu",), classes=(pods,), offers=offers, **fields)  # type: ignore[arg-type]


THERE = Offer(name="there", capacity=(10,), exists=True)
NEW = Offer(name="new", capacity=(10,), price=10)


def _budget() -> Budget:
    return Budget(10**9, time.monotonic() + 100)


def test_the_best_content_of_what_can_be_bought_is_found_beside_nodes_that_exist() -> None:
    table = setting_of(_problem(THERE, NEW)).relaxed
    values = DualValues(
        units=np.array([10.0]),
        limits=np.zeros(0),
        minima=np.zeros(0),
        resources=np.array([[10 / 6]]),
    )
    master = Master(table, _budget())
    master.solve()
    _, held = tighten(master, values, _budget(), 8)
    assert most_value(table, values).min() > 16
    assert held.tolist() == [10.0, 10.0]


def test_a_plan_of_minima_alone_is_at_its_bound() -> None:
    minimum = Minimum(name="warm", offers=frozenset({"new", "dear"}), count=2)
    dear = Offer(name="dear", capacity=(10,), price=30)
    plan = solve(Problem(resources=("cpu",), classes=(), offers=(NEW, dear), minima=(minimum,)))
    assert (plan.cost, plan.bound, plan.gap) == (20, 20, 0.0)


def test_first_fit_moves_no_pods_from_the_pool_of_the_higher_weight() -> None:
    offers = (
        Offer(name="whole", capacity=(10,), price=9, weight=10),
        Offer(name="most", capacity=(9,), price=4, weight=10),
        Offer(name="other", capacity=(10,), price=1),
    )
    names = frozenset(offer.name for offer in offers)
    sizes = (("five", 5, 2), ("four", 4, 1), ("three", 3, 2))
    pods = tuple(
        PodClass(name=name, requests=(size,), count=count, offers=names)
        for name, size, count in sizes
    )
    two = Limit(name="nodes", amounts={"whole": 1, "most": 1}, most=2)
    problem = Problem(resources=("cpu",), classes=pods, offers=offers, limits=(two,))
    plan = solve(problem)
    assert complaints(problem, plan) == []
    assert [node.offer for node in plan.nodes] == ["whole", "whole"]


def _zones(*offers: Offer, count: int) -> Problem:
    near = Together(name="near", key="zone", members=frozenset({"web"}))
    return _problem(*offers, requests=1, count=count, groups=(near,))


def test_pods_that_stay_together_go_where_all_of_them_can_be_had() -> None:
    a, b = {"zone": "a"}, {"zone": "b"}
    problem = _zones(
        Offer(name="there", capacity=(3,), exists=True, labels=a),
        Offer(name="few", capacity=(10,), price=1, most=1, labels=a),
        Offer(name="plenty", capacity=(10,), price=9, labels=b),
        count=300,
    )
    plan = solve(problem)
    assert plan.unplaced == ()
    assert {node.offer for node in plan.nodes} == {"plenty"}


def test_a_little_free_room_doesn_t_outweigh_a_lower_price() -> None:
    a, b = {"zone": "a"}, {"zone": "b"}
    problem = _zones(
        Offer(name="there", capacity=(3,), exists=True, labels=a),
        Offer(name="dear", capacity=(10,), price=9, labels=a),
        Offer(name="cheap", capacity=(10,), price=1, labels=b),
        count=300,
    )
    plan = solve(problem)
    assert plan.cost == 30
    assert plan.stop is not Stop.CLOCK


def _beside_many(seed: int) -> Problem:
    """A crowd of pods of twelve kinds and forty nodes, each of which some kinds may not use."""
    chance = random.Random(seed)
    new = tuple(Offer(name=f"new-{n}", capacity=(n * 8, n * 16), price=n * 10) for n in (1, 2, 4))
    there = tuple(
        Offer(
            name=f"there-{n}", capacity=(chance.randint(1, 16), chance.randint(1, 32)), exists=True
        )
        for n in range(40)
    )
    kinds = tuple(
        PodClass(
            name=f"kind-{n}",
            requests=(chance.randint(1, 6), chance.randint(1, 12)),
            count=30,
            offers=frozenset(each.name for each in (*new, *there) if chance.random() < 0.9),
        )
        for n in range(12)
    )
    return Problem(resources=("cpu", "memory"), classes=kinds, offers=(*new, *there))


@pytest.mark.parametrize("seed", range(4))
def test_units_that_join_when_they_pay_give_the_same_bound_as_all_at_once(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = setting_of(_beside_many(seed)).relaxed
    bounds = []
    for at_once in (1, 6, 1000):
        monkeypatch.setattr(relaxing, "AT_ONCE", at_once)
        relaxation = relax(table, _budget())
        assert relaxation is not None
        assert np.allclose(relaxation.units.sum(axis=1), table.demand)
        bounds.append(lower_bound(table, relaxation.values, {}))
    assert max(bounds) - min(bounds) <= 1
    assert min(bounds) > 0


def test_a_node_that_exists_costs_as_much_as_its_best_content_is_worth() -> None:
    table = setting_of(_problem(THERE, NEW)).relaxed
    relaxation = relax(table, _budget())
    assert relaxation is not None
    assert rents(table, relaxation.values).tolist() == pytest.approx([10, 10], abs=1e-3)


def test_several_weights_have_a_bound_for_all_of_them_together() -> None:
    empty = workload(
        offers=catalogue("hetzner", 2),
        pods="kb",
        constraints="on",
        classes=12,
        count=300,
        seed=2,
    )
    problem = with_rules(with_nodes(empty, 2), 2)
    plan = solve(problem)
    assert complaints(problem, plan) == []
    assert sum(step.bound for step in plan.steps) < plan.bound <= plan.cost
