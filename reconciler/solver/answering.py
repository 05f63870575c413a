"""Whatever the solver is asked, answered: by the engine that the question calls for.

Who asks about machines to buy and who asks about machines to give back use one worker, one pipe
and one simulated solver; only here the two kinds of questions are told apart.
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
    """The best that the effort finds; `seconds` is only a safety net."""
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
    """What can be said without an optimiser: first-fit's plan, and that nothing goes."""
    match question:
        case Problem():
            return solve_by_first_fit(question)
        case Renewal():
            return unchanged(question)
        case _:
            assert_never(question)
