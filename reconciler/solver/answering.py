"""Answers both kinds of questions: a Problem (what to buy) and a Renewal (what to remove).

Both use the same worker, pipe and simulated solver. Only this module tells them apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, overload

from reconciler.solver.model.problem import Problem
from reconciler.solver.model.renewal import Renewal
from reconciler.solver.packing.solving import solve, solve_by_first_fit
from reconciler.solver.renewal.renew import renew, unchanged

if TYPE_CHECKING:
    from reconciler.solver.model.plan import Plan
    from reconciler.solver.model.problem import Effort
    from reconciler.solver.model.renewal import Renewed


@overload
def solve_within(question: Problem, effort: Effort, *, seconds: float = ...) -> Plan: ...
@overload
def solve_within(question: Renewal, effort: Effort, *, seconds: float = ...) -> Renewed: ...
def solve_within(
    question: Problem | Renewal, effort: Effort, *, seconds: float = 60.0
) -> Plan | Renewed:
    """The best answer that the effort finds; `seconds` is only a safety net."""
    match question:
        case Problem():
            return solve(question, effort, seconds=seconds)
        case Renewal():
            return renew(question, effort, seconds=seconds)
        case _:
            assert_never(question)


@overload
def answered_at_once(question: Problem) -> Plan: ...
@overload
def answered_at_once(question: Renewal) -> Renewed: ...
def answered_at_once(question: Problem | Renewal) -> Plan | Renewed:
    """The answer without an optimiser: the plan of first-fit, or no node removed."""
    match question:
        case Problem():
            return solve_by_first_fit(question)
        case Renewal():
            return unchanged(question)
        case _:
            assert_never(question)
