"""A plan that only the one who made it could carry out."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from reconciler.planning.capacity import Spot
from reconciler.planning.question import Question
from reconciler.replacement.rehearsal import Preference, left_over, with_slack
from reconciler.solver import Effort, Offer, PodClass, Problem
from reconciler.solver.solving import solve
from tests.scheduling import build

EMPTIEST, FULLEST = Preference.EMPTIEST, Preference.FULLEST


def asked(*pods: tuple[str, int, int], rooms: dict[str, int]) -> Question:
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
        name: Spot(name=name, node=node, room=node.allocatable, is_coming=False)
        for name, node in nodes.items()
    }
    return Question(problem=problem, pods={}, offers={}, spots=spots, left_out={}, waiting={})


def missing(question: Question, preference: Preference) -> dict[str, int]:
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


def test_one_that_fills_nodes_up_finds_room_for_the_last() -> None:
    question = asked(("small", 1000, 4), ("wide", 4000, 1), rooms={"one": 3000, "two": 5000})
    assert missing(question, FULLEST) == {}


def test_one_more_machine_holds_those_who_would_be_left_over() -> None:
    question = asked(("small", 1000, 4), ("wide", 4000, 1), rooms={"one": 4000, "two": 4000})
    sold = [
        Offer(name=name, capacity=(cpu,), price=cpu) for name, cpu in (("s", 2000), ("l", 8000))
    ]
    wide = [
        replace(pod, offers=frozenset({*pod.offers, "s", "l"})) for pod in question.problem.classes
    ]
    problem = replace(
        question.problem, offers=(*question.problem.offers, *sold), classes=tuple(wide)
    )
    question = msgspec.structs.replace(question, problem=problem)
    plan = solve(question.problem, Effort.QUICK)
    more = with_slack(question, plan, {"wide": 1})
    assert more is not None
    assert [node.offer for node in more.nodes if node not in plan.nodes] == ["l"]
    assert with_slack(question, plan, {"wide": 3}) is None
