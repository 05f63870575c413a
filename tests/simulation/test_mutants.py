"""The mistakes of others, planted: the simulator has to find each of them, and only them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from reconciler.invariants.breach import Invariant
from reconciler.simulation.lives import STOPPED
from reconciler.simulation.run import found_until, run_story
from reconciler.simulation.story import Story
from tests.simulation.mutants import HELD_BACK, MUTANTS, Mutant, lets_everything_pass

if TYPE_CHECKING:
    from collections.abc import Callable

    from reconciler.simulation.auditor import AuditBreach

SLY = [mutant for mutant in MUTANTS if mutant.faults and mutant.row not in {3, 13, 17}]
"""A pod is always bound a few milliseconds after its node serves, pods of a workload come one after
the other while the first is bought for, and consolidation moves pods all the time: so the others
show without any fault."""

pytestmark = pytest.mark.timeout(240)


def called(mutant: Mutant | Invariant) -> str:
    if isinstance(mutant, Invariant):
        return mutant.value
    return mutant.name if mutant.row is None else f"row {mutant.row}"


mutants = pytest.mark.parametrize("mutant", MUTANTS, ids=called)


def is_right(told: Story, breach: AuditBreach) -> bool:
    """Whether the rules as they are pass where the mistake was found."""
    if breach.at < told.end:
        return found_until(breach.at, told) is None
    return not run_story(told).breaches


def caught(mutant: Mutant) -> tuple[Story, AuditBreach] | None:
    """The first seed in which the auditor finds the mistake, and what it finds.

    Our own brakes are off: they would hold back what the auditor is to see.
    """
    for seed in mutant.seeds:
        told = Story(seed=seed, minutes=mutant.minutes, faults=mutant.faults)
        parts = dataclasses.replace(mutant.parts(), judge=lets_everything_pass)
        for breach in run_story(told, parts=parts).breaches:
            return told, breach
    return None


@mutants
def test_a_planted_mistake_is_caught(
    mutant: Mutant, record_property: Callable[[str, object], None]
) -> None:
    found = caught(mutant)
    assert found is not None, f"nobody noticed what {mutant.name}"
    told, breach = found
    assert is_right(told, breach), "the right rules are blamed for it too"
    record_property("caught", f"seed {told.seed}, {breach.at / 60:.0f} min: {breach.rule}")


@pytest.mark.parametrize("mutant", SLY, ids=called)
def test_a_planted_mistake_works_while_nothing_goes_wrong(mutant: Mutant) -> None:
    outcome = run_story(Story(seed=1, minutes=10.0, faults=()), parts=mutant.parts())
    assert not outcome.breaches


@pytest.mark.parametrize(("mutant", "invariant"), HELD_BACK, ids=called)
def test_a_planted_mistake_is_held_back_before_it_is_carried_out(
    mutant: Mutant, invariant: Invariant
) -> None:
    found = stopped(mutant)

    assert found is not None, f"nothing held back what {mutant.name}"
    assert f": {invariant}: " in found.text


def stopped(mutant: Mutant) -> AuditBreach | None:
    """What the process stopped for by itself, in the first seed in which anybody finds anything."""
    for seed in mutant.seeds:
        told = Story(seed=seed, minutes=mutant.minutes, faults=mutant.faults)
        for breach in run_story(told, parts=mutant.parts()).breaches:
            return breach if breach.rule == STOPPED else None
    return None
