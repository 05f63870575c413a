"""The solver's workers, which are other processes: a solve takes time, and may end without a plan.

If a worker dies, its question is answered without the optimiser. If it is stopped, it is not
answered at all, and growth has to ask again. Without this fault, an answer comes at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.errors import DecideAgain
from reconciler.core.actions import Solve, Solved
from reconciler.simulation.faults import SimulatedFault
from reconciler.solver import Effort
from reconciler.solver.answering import answered_at_once, solve_within

if TYPE_CHECKING:
    from reconciler.core.actions import Action
    from reconciler.simulation.faults import Faults

TAKES: Final = (0.005, 0.5)
"""Seconds of a solve, from a few pods to the safety stop."""
ENDS_EARLY: Final = 0.1
"""The share of solves that are stopped, or whose worker dies."""


class SimulatedSolver:
    """Answers the questions of a simulated process."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def seconds(self, action: Action) -> float:
        """How much longer a step takes, if it is a solve."""
        if not isinstance(action, Solve) or not self._faults.strikes(
            SimulatedFault.SLOW_SOLVE, 1.0
        ):
            return 0.0
        return self._faults.chance(SimulatedFault.SLOW_SOLVE).between(*TAKES)

    def answer(self, question: Solve) -> Solved | DecideAgain:
        """The plan. An effort is counted in work and not in seconds, so each run gets the same."""
        if self._faults.strikes(SimulatedFault.SLOW_SOLVE, ENDS_EARLY):
            if self._faults.chance(SimulatedFault.SLOW_SOLVE).happens(0.5):
                return DecideAgain("it was stopped")
            plan = answered_at_once(question.stated)
        else:
            plan = solve_within(question.stated, Effort.QUICK)
        return Solved(number=question.number, plan=plan)
