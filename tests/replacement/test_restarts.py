"""What a restart forgets is in objects: whenever it comes, the end is the same."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.replacement.renewer import Renewer, running, standing

STEP = 4.0
STEPS = 36


def told(restarts: frozenset[int]) -> Renewer:
    """Two large nodes with one pod each become two small ones, a restart at some of the steps."""
    renewer = Renewer(
        standing("default-1", "large"),
        standing("default-2", "large"),
        running("wide-1", "default-1", cpu="1900m"),
        running("wide-2", "default-2", cpu="1900m"),
    )
    renewer.serves_after = 2 * STEP
    for number in range(STEPS):
        renewer.passes(STEP)
        if number % 4 == 3:
            renewer.drain()
        if number in restarts:
            renewer.restart()
    return renewer


def end(renewer: Renewer) -> tuple[list[str], int]:
    """The machines that are left by their types, and how many pods run on them."""
    names = {node.name for node in renewer.nodes}
    running_ = sum(kind == "Pod" for kind, _, _ in renewer.objects)
    types = sorted(node.labels["growth.dev/instance-type"] for node in renewer.nodes)
    placed = {each.spec.node_name for each in renewer.pods}
    assert placed <= names, "nobody runs on a node that is gone"
    return types, running_


CHEAPEST = (["small", "small"], 2)


def test_without_a_restart_the_cheapest_is_left() -> None:
    assert end(told(frozenset())) == CHEAPEST


@settings(max_examples=6, deadline=None)
@given(st.frozensets(st.integers(0, 15), min_size=1, max_size=3))
def test_a_restart_at_any_step_leads_to_the_same_end(restarts: frozenset[int]) -> None:
    assert end(told(restarts)) == CHEAPEST
