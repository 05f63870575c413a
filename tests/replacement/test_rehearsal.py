"""A plan that only the one who made it could carry out."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import msgspec
import pytest

from growth.api.written import ServerTypeName
from reconciler.buying.offers import Purchasable
from reconciler.planning.capacity import Spot
from reconciler.planning.problem import PlanningProblem
from reconciler.providers.port import Offering
from reconciler.replacement.rehearsal import NodeRoom, Preference, left_over, with_slack
from reconciler.solver import HOSTNAME, Effort, Near, Offer, PodClass, Problem
from reconciler.solver.packing.solving import solve
from tests.reconciler.build import pool
from tests.scheduling import build

EMPTIEST, FULLEST = Preference.EMPTIEST, Preference.FULLEST


def asked(*pods: tuple[str, int, int], rooms: dict[str, int]) -> PlanningProblem:
    """Classes by name, millicores and count; nodes of four cores with so much left."""
    problem = Problem(
        resources=("cpu",),
        offers=tuple(Offer(name=n, capacity=(left,), exists=True) for n, left in rooms.items()),
        classes=tuple(
            PodClass(name=name, requests=(cpu,), count=count, offers=frozenset(rooms))
            for name, cpu, count in pods
        ),
    )
    nodes = {name: build.node(name, cpu="4") for name in rooms}
    spots = {
        name: Spot(name=name, node=node, room=node.allocatable) for name, node in nodes.items()
    }
    return PlanningProblem(
        problem=problem, pods={}, offers={}, spots=spots, left_out={}, waiting={}
    )


def missing(question: PlanningProblem, preference: Preference) -> dict[str, int]:
    plan = solve(question.problem, Effort.QUICK)
    assert not plan.unplaced, "on paper everybody has a place"
    return left_over(question, plan, preference)


@pytest.mark.parametrize("preference", list(Preference))
def test_where_there_is_enough_room_nobody_is_left_over(preference: Preference) -> None:
    question = asked(("a", 1000, 3), ("b", 500, 3), rooms={"one": 4000, "two": 4000})
    assert missing(question, preference) == {}


def test_a_scheduler_that_spreads_pods_leaves_crumbs() -> None:
    question = asked(("small", 1000, 4), ("wide", 4000, 1), rooms={"one": 4000, "two": 4000})
    assert missing(question, EMPTIEST) == {"wide": 1}


def near(question: PlanningProblem, follower: str, anchor: str) -> PlanningProblem:
    group = Near(
        name="near",
        key=HOSTNAME,
        members=frozenset({follower}),
        anchors=frozenset({anchor}),
    )
    problem = replace(question.problem, groups=(group,))
    return msgspec.structs.replace(question, problem=problem)


@pytest.mark.parametrize("preference", list(Preference))
def test_a_follower_comes_after_its_anchor_in_whichever_order_they_are_created(
    preference: Preference,
) -> None:
    question = asked(("a", 1000, 1), ("b", 500, 2), rooms={"one": 4000, "two": 4000})
    assert missing(near(question, "b", "a"), preference) == {}


def test_a_follower_is_left_over_if_its_anchor_goes_where_it_has_no_room() -> None:
    question = near(
        asked(("follower", 3000, 1), ("anchor", 1000, 1), rooms={"one": 4000, "two": 2000}),
        "follower",
        "anchor",
    )
    assert missing(question, FULLEST) == {"follower": 1}
    assert missing(question, EMPTIEST) == {}


def test_one_that_fills_nodes_up_finds_room_for_the_last() -> None:
    question = asked(("small", 1000, 4), ("wide", 4000, 1), rooms={"one": 3000, "two": 5000})
    assert missing(question, FULLEST) == {}


@pytest.mark.parametrize("preference", list(Preference))
def test_the_scheduler_looks_at_all_that_is_scored_and_the_extender_at_what_is_scarcest(
    preference: Preference,
) -> None:
    # By both together the uneven one is the emptier, by its cpu alone it is the fuller one.
    rooms = [
        NodeRoom(offer="uneven", left=[1, 10], whole=[10, 10]),
        NodeRoom(offer="even", left=[5, 4], whole=[10, 10]),
    ]
    assert min(rooms, key=lambda room: room.rank(preference)).offer == "uneven"


def test_one_more_machine_holds_those_who_would_be_left_over() -> None:
    question = asked(("small", 1000, 4), ("wide", 4000, 1), rooms={"one": 4000, "two": 4000})
    sold = {"s": (2000, 2), "m": (4000, 9), "dear": (4000, 11), "l": (8000, 8)}
    question = selling(question, sold)
    plan = solve(question.problem, Effort.QUICK)
    more = with_slack(question, plan, EMPTIEST)
    assert more is not None
    assert [node.offer for node in more.nodes if node not in plan.nodes] == ["l"]
    assert more.cost == plan.cost + 8


def test_no_more_is_bought_than_a_rehearsal_asks_for() -> None:
    rooms = {"one": 4000, "two": 4000, "three": 4000}
    question = asked(("small", 1000, 6), ("half", 3000, 2), rooms=rooms)
    question = selling(question, {"s": (4000, 4), "m": (6000, 6), "l": (12_000, 12)})
    plan = solve(question.problem, Effort.QUICK)
    more = with_slack(question, plan, EMPTIEST)
    assert more is not None
    assert left_over(question, plan, EMPTIEST)
    assert left_over(question, more, EMPTIEST) == {}
    assert more.cost == 4, "together they would ask for six cores"


def test_no_machine_that_holds_the_largest_of_them_is_no_answer() -> None:
    question = asked(("small", 1000, 4), ("wide", 4000, 1), rooms={"one": 4000, "two": 4000})
    question = selling(question, {"s": (3000, 2)})
    assert with_slack(question, solve(question.problem, Effort.QUICK), EMPTIEST) is None


def selling(question: PlanningProblem, sold: dict[str, tuple[int, int]]) -> PlanningProblem:
    """The same question with machines for sale, by cores and price."""
    more = tuple(Offer(name=n, capacity=(cpu,), price=price) for n, (cpu, price) in sold.items())
    problem = replace(
        question.problem,
        offers=(*question.problem.offers, *more),
        classes=tuple(
            replace(pod, offers=pod.offers | frozenset(sold)) for pod in question.problem.classes
        ),
    )
    items = {name: _sold(name, cpu) for name, (cpu, _) in sold.items()}
    return msgspec.structs.replace(question, problem=problem, offers=items)


def _sold(name: str, cpu: int) -> Purchasable:
    node = build.node(name, cpu=f"{cpu}m")
    offering = Offering(
        provider="kwok",
        server_type=ServerTypeName(name),
        location="here",
        price=Decimal(1),
        allocatable=node.allocatable,
    )
    return Purchasable(
        name=name, pool=pool(), offering=offering, node=node, daemons=(), room=node.allocatable
    )
