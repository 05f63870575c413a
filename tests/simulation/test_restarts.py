"""Our process ends before or after an effect of a story, and the story ends as it would have."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from reconciler.simulation.run import Outcome, run
from reconciler.simulation.story import Story

if TYPE_CHECKING:
    from collections.abc import Sequence

CALM = Story(seed=2, minutes=3.0, faults=(), workloads=6)
"""Some pods of some shapes, and none that ends while machines are still coming."""
EVERY = 4
"""The quick suite tries each so many points."""


def end_of(outcome: Outcome) -> object:
    return outcome.breaches, outcome.machines, outcome.bound


def assert_converges(undisturbed: Outcome, points: Sequence[str]) -> None:
    assert undisturbed.bound
    for name in points:
        killed = run(msgspec.structs.replace(CALM, kill=name))
        assert killed.hash != undisturbed.hash
        assert end_of(killed) == end_of(undisturbed), f"ended at {name}"
    sys.stdout.write(f"{len(points)} points, {len(points)} converged\n")


def test_a_process_that_ends_at_a_point_converges_to_the_same_end() -> None:
    undisturbed = run(CALM)
    assert_converges(undisturbed, undisturbed.points[::EVERY])


@pytest.mark.long
def test_a_process_that_ends_at_any_point_converges_to_the_same_end() -> None:
    undisturbed = run(CALM)
    assert_converges(undisturbed, undisturbed.points)
