"""Nodes that exist and minima cost nothing more: they mustn't hide what can be bought."""

from __future__ import annotations

import time

import numpy as np

from reconciler.solver import Limit, Minimum, Offer, PodClass, Problem, Stop, Together
from reconciler.solver.arrays.setting import setting_of
from reconciler.solver.bound.bound import DualValues, most_value
from reconciler.solver.bound.exact import tighten
from reconciler.solver.bound.master import Master
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
