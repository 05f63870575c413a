"""While the machines of a plan open one after the other, nobody is sent to those that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from extender.opening import FORGOTTEN, LONGEST, Opening
from growth.api.wellknown import UNREGISTERED_TAINT
from growth.scheduling.metadata import ObservedCondition
from tests.extender.build import a_node, a_request, added, changed, gone

if TYPE_CHECKING:
    from growth.scheduling.node import Node

HELD = "node.kubernetes.io/not-ready"


def node(name: str, *taints: str, ready: bool = True) -> Node:
    made = a_node(name, taints=taints)
    conditions = (ObservedCondition(type="Ready", status="True" if ready else "False"),)
    return msgspec.structs.replace(
        made, status=msgspec.structs.replace(made.status, conditions=conditions)
    )


def shut(name: str) -> Node:
    return node(name, UNREGISTERED_TAINT)


def a_plan(*nodes: Node, seconds: str = "00 00 00") -> Opening:
    """Machines a, b and c, asked for in these seconds."""
    opening = Opening()
    made = dict(zip("abc", seconds.split(), strict=True))
    opening.follow_requests(
        [added(a_request(name, made=f"2026-01-01T00:00:{at}Z")) for name, at in made.items()]
    )
    opening.follow_nodes([added(each) for each in nodes])
    return opening


def waits(opening: Opening, *open_nodes: str, now: float = 0.0) -> bool:
    return bool(opening) and opening.is_under_way(open_nodes, now)


def test_a_question_about_the_first_waits_until_the_last_is_open() -> None:
    opening = a_plan(shut("a"), shut("b"), shut("c"))
    assert waits(opening, "a")

    opening.follow_nodes([changed(shut("a"), node("a")), changed(shut("b"), node("b"))])
    assert waits(opening, "a", "b")
    opening.follow_nodes([changed(shut("c"), node("c"))])
    assert not waits(opening, "a", "b")


def test_what_the_scheduler_knows_to_be_open_is_not_waited_for() -> None:
    assert not waits(a_plan(shut("a")), "a")


@pytest.mark.parametrize(
    "other",
    [
        node("b", UNREGISTERED_TAINT, ready=False),
        node("b", UNREGISTERED_TAINT, HELD),
        node("b", HELD),
    ],
    ids=["it boots", "the control plane holds it back", "it opened, and is held back"],
)
def test_who_is_not_about_to_open_is_not_waited_for(other: Node) -> None:
    assert not waits(a_plan(node("a"), other), "a")


@pytest.mark.parametrize(("seconds", "is_one"), [("10 11 00", True), ("10 12 00", False)])
def test_plans_are_known_by_the_second_in_which_they_were_made(seconds: str, is_one: bool) -> None:  # noqa: FBT001 - a parameter of the table
    assert waits(a_plan(node("a"), shut("b"), seconds=seconds), "a") is is_one


def test_nodes_that_are_nobodys_purchase_wait_for_nobody() -> None:
    opening = a_plan(shut("b"))
    assert not opening.is_under_way(["of-a-person"], 0.0)


def test_all_questions_together_wait_no_longer_than_a_moment() -> None:
    opening = a_plan(node("a"), shut("b"))
    assert waits(opening, "a", now=100.0)
    assert waits(opening, "a", now=100.0 + LONGEST - 0.01)
    assert not waits(opening, "a", now=100.0 + LONGEST)
    assert not waits(opening, "a", now=100.0 + FORGOTTEN - 1)


def test_nothing_is_kept_of_what_is_gone() -> None:
    opening = a_plan(node("a"), shut("b"))
    assert waits(opening, "a")
    opening.follow_nodes([gone(shut("b"))])
    assert not opening
    opening.follow_nodes([added(shut("b"))])
    opening.follow_requests([gone(a_request("b"))])
    assert not waits(opening, "a")
