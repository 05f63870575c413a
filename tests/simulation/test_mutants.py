"""The mistakes of others, planted: the simulator has to find each of them, and only them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reconciler.simulation.run import run
from reconciler.simulation.story import Story
from tests.simulation.mutants import MUTANTS, Mutant

if TYPE_CHECKING:
    from collections.abc import Callable

    from reconciler.simulation.auditor import Breach

MINUTES = 40.0
SEEDS = range(1, 9)

SLY = [mutant for mutant in MUTANTS if mutant.row not in {3, 17}]
"""A pod is always bound a few milliseconds after its node serves, and pods of a workload come one
after the other while the first is bought for: so rows 3 and 17 show without any fault."""

pytestmark = pytest.mark.timeout(240)
mutants = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"row {mutant.row}")


def caught(mutant: Mutant) -> tuple[int, Breach] | None:
    """The first seed that finds the mistake, and what it finds."""
    for seed in SEEDS:
        told = Story(seed=seed, minutes=MINUTES, faults=mutant.faults)
        for breach in run(told, parts=mutant.parts()).breaches:
            return seed, breach
    return None


@mutants
def test_a_planted_mistake_is_caught(
    mutant: Mutant, record_property: Callable[[str, object], None]
) -> None:
    found = caught(mutant)
    assert found is not None, f"nobody noticed what {mutant.name}"
    seed, breach = found
    told = Story(seed=seed, minutes=MINUTES, faults=mutant.faults)
    assert not run(told).breaches, "the right rules are blamed for it too"
    record_property("caught", f"seed {seed}, {breach.at / 60:.0f} min: {breach.rule}")


@pytest.mark.parametrize("mutant", SLY, ids=lambda mutant: f"row {mutant.row}")
def test_a_planted_mistake_works_while_nothing_goes_wrong(mutant: Mutant) -> None:
    outcome = run(Story(seed=1, minutes=20.0, faults=()), parts=mutant.parts())
    assert not outcome.breaches
