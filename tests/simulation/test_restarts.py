"""Our process ends at every effect of a story, and the end of the story stays the same."""

from __future__ import annotations

import msgspec
import pytest

from reconciler.effects import Side
from reconciler.simulation.run import Outcome, run
from reconciler.simulation.story import Kill, Story

CALM = Story(seed=7, minutes=4.0, faults=(), workloads=6)
"""Some pods of some shapes, and nobody who ends while machines still come."""
POINTS = 12


def end_of(outcome: Outcome) -> object:
    return outcome.breaches, outcome.bound


def killed_at(number: int, side: Side) -> Outcome:
    return run(msgspec.structs.replace(CALM, kill=Kill(number, side)))


@pytest.mark.parametrize("side", list(Side))
def test_a_process_that_ends_at_any_effect_converges_to_the_same_end(side: Side) -> None:
    undisturbed = run(CALM)
    assert undisturbed.points > POINTS
    step = undisturbed.points / POINTS
    ends = [killed_at(1 + int(index * step), side) for index in range(POINTS)]
    assert {end_of(end) for end in ends} == {end_of(undisturbed)}
    assert all(end.bought <= undisturbed.bought + 2 for end in ends)
