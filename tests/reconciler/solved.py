"""What planning comes to when its questions are answered: the wave closes, the solver answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from reconciler import loop, planning
from reconciler.core.actions import Solve, Solved
from reconciler.solver import Effort
from reconciler.solver.answering import solve_within
from tests.reconciler.build import at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.core.actions import Sequence
    from reconciler.core.decision import Decision
    from reconciler.core.world import World
    from reconciler.loop import PassOutcome
    from reconciler.planning.ledger import PlanningLedger

PASSES = 5
BETWEEN = 0.03
"""Seconds; a wave of pods is complete after less."""


def answers(sequences: Iterable[Sequence]) -> dict[str, Solved]:
    """The solver's answers to what was asked."""
    return {
        step.lane: Solved(number=step.number, plan=solve_within(step.stated, Effort.QUICK))
        for sequence in sequences
        for step in sequence.steps
        if isinstance(step, Solve)
    }


def planned(seen: World, seconds: float = 100.0) -> Decision[PlanningLedger]:
    """Planning's decision that applies the plan; its last one, where nothing was asked."""
    decision = planning.decide(seen, at(seconds))
    for number in range(1, PASSES):
        assert decision.section is not None
        plans = answers(decision.sequences)
        seen = msgspec.structs.replace(
            seen.remembering(replace(seen.ledger, planning=decision.section)), plans=plans
        )
        decision = planning.decide(seen, at(seconds + number * BETWEEN))
        if plans:
            break
    return decision


def settled(seen: World, seconds: float) -> PassOutcome:
    """The same of all rooms together."""
    outcome = loop.decide(seen, at(seconds))
    for number in range(1, PASSES):
        plans = answers(outcome.sequences)
        seen = msgspec.structs.replace(seen, ledger=outcome.ledger, plans=plans)
        outcome = loop.decide(seen, at(seconds + number * BETWEEN))
        if plans:
            break
    return outcome
