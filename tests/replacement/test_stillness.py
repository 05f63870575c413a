"""How long nodes have been left alone."""

from __future__ import annotations

from reconciler.replacement.stillness import stillness
from tests.reconciler.build import at, world
from tests.scheduling import build


def test_a_node_that_came_in_place_of_another_begins_anew() -> None:
    """As many nodes as before, and not the same ones."""
    before = stillness({}, world(build.node("old")), at(10))
    after = stillness(before, world(build.node("new")), at(20))
    assert {name: still.since for name, still in after.items()} == {"new": 20}


def test_where_nothing_has_changed_nothing_is_made_anew() -> None:
    seen = world(build.node("old"))
    before = stillness({}, seen, at(10))
    assert stillness(before, seen, at(20)) is before


def test_a_pod_that_comes_ends_the_stillness() -> None:
    before = stillness({}, world(build.node("old")), at(10))
    visited = world(build.node("old"), build.pod(on="old"))
    assert stillness(before, visited, at(20))["old"].since == 20
