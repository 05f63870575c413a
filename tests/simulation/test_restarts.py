"""Our process ends before or after an effect of a story, and the story ends as it would have."""

from __future__ import annotations

import msgspec
import pytest

from reconciler.effects import Side
from reconciler.simulation.run import Outcome, run
from reconciler.simulation.story import Kill, Story

CALM = Story(seed=2, minutes=3.0, faults=(), workloads=6)
"""Some pods of some shapes, and none that ends while machines are still coming."""
EVERY = 4
"""The quick suite tries each so many points."""


def end_of(outcome: Outcome) -> object:
    return outcome.breaches, outcome.machines, outcome.bound


def assert_converges(points: range, side: Side) -> None:
    undisturbed = run(CALM)
    assert undisturbed.bound
    for number in points:
        killed = run(msgspec.structs.replace(CALM, kill=Kill(number, side)))
        assert killed.hash != undisturbed.hash
        assert end_of(killed) == end_of(undisturbed), f"killed {side} effect {number}"


@pytest.mark.parametrize("side", list(Side))
def test_a_process_that_ends_at_an_effect_converges_to_the_same_end(side: Side) -> None:
    assert_converges(range(1, run(CALM).points + 1, EVERY), side)


@pytest.mark.long
@pytest.mark.parametrize("side", list(Side))
def test_a_process_that_ends_at_any_effect_converges_to_the_same_end(side: Side) -> None:
    assert_converges(range(1, run(CALM).points + 1), side)
