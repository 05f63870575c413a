"""Random arrivals with faults: nothing that must always hold is ever breached."""

from __future__ import annotations

import pytest

from reconciler.simulation.run import run
from reconciler.simulation.story import Story, story

MINUTES = 100.0
QUICK = range(1, 11)
"""1,000 minutes."""
LONG = range(101, 201)
"""10,000 minutes."""


def assert_holds(told: Story) -> None:
    outcome = run(told)
    assert not outcome.breaches, "\n".join(
        [*outcome.lines, str(outcome.breaches[0]), f"replay: {told.command}"]
    )


@pytest.mark.parametrize("seed", QUICK)
def test_nothing_is_breached_under_the_faults_of_a_seed(seed: int) -> None:
    assert_holds(story(seed, MINUTES))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", LONG)
def test_nothing_is_breached_for_ten_thousand_minutes(seed: int) -> None:
    assert_holds(story(seed, MINUTES))


@pytest.mark.timeout(300)
def test_faults_cost_few_machines_more() -> None:
    """A run and its fault-free twin drift apart by chance, many runs together do not."""
    bought = allowed = 0.0
    for seed in range(1, 5):
        with_faults = run(story(seed, 40.0))
        twin = run(Story(seed=seed, minutes=40.0, faults=()))
        # What died is bought again, and what a person gave back beyond the twin's share.
        replaced = with_faults.lost + max(0, with_faults.retired - twin.retired)
        bought += with_faults.bought
        allowed += twin.bought + replaced
    assert bought <= 1.1 * allowed + 2
