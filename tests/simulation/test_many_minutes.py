"""Random arrivals with faults: nothing that must always hold is ever breached."""

from __future__ import annotations

import pytest

from reconciler.simulation.faults import Fault
from reconciler.simulation.run import Outcome, run
from reconciler.simulation.story import Story, story

QUICK = range(1, 7)
"""Three hours, half an hour each: half of the kinds of faults are on in each, so many short ones
find more than few long ones."""
LONG = range(101, 201)
"""10,000 minutes."""
STORM = (
    Fault.CORDON,
    Fault.KEPT,
    Fault.NOTHING_MOVES,
    Fault.VISITOR,
    Fault.MACHINE_DIES,
    Fault.DELETE_FAILS,
    Fault.RESTART,
)
"""What people do to nodes and pods, and what makes giving back hard."""


def assert_holds(told: Story) -> Outcome:
    outcome = run(told)
    assert not outcome.breaches, "\n".join(
        [*outcome.lines, str(outcome.breaches[0]), f"replay: {told.command}"]
    )
    return outcome


@pytest.mark.parametrize("seed", QUICK)
def test_nothing_is_breached_under_the_faults_of_a_seed(seed: int) -> None:
    assert_holds(story(seed, 30.0))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", LONG)
def test_nothing_is_breached_for_ten_thousand_minutes(seed: int) -> None:
    assert_holds(story(seed, 100.0))


def test_nothing_is_breached_in_a_storm() -> None:
    """Half an hour, in which nodes are also replaced by cheaper ones."""
    outcome = assert_holds(Story(seed=3, minutes=30.0, faults=STORM))
    assert outcome.retired
    assert any("Evict" in point for point in outcome.points)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(11, 31))
def test_nothing_is_breached_in_many_storms(seed: int) -> None:
    assert_holds(Story(seed=seed, minutes=30.0, faults=STORM))


def test_faults_cost_little_more() -> None:
    """What is paid for, in hours of machines: a run and its fault-free twin drift apart by chance.

    How many machines are bought says less: an idle node that was given back is bought again, and
    what died is bought anew.
    """
    paid = fair = 0.0
    for seed in (1, 3):
        paid += run(story(seed, 20.0)).paid
        fair += run(Story(seed=seed, minutes=20.0, faults=())).paid
    assert paid <= 1.25 * fair
