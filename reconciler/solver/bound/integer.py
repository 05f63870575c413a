"""An integer program, solved by CP-SAT.

It uses the protocol buffer of the model, because ortools' Python classes would load pandas. With
one worker and a limit in deterministic time, the same program ends the same way on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model_helper as engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FAR = 2**60
TICKS_PER_UNIT = 1_700_000
"""Ticks in one unit of CP-SAT's deterministic time, measured against the other stages."""


class Ending(Enum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerSolution:
    """The result of a solve: the values of all variables, the objective, and the proven bound."""

    ending: Ending
    values: list[int]
    objective: int
    bound: float
    ticks: int


class IntegerProgram:
    """Variables with bounds, linear constraints (rows), and a sum to minimise.

    `relaxed` is the engine's linearization level: 1 is its default, 2 puts the whole program into
    its linear relaxation, which pays if that is close to the integer solution.
    """

    def __init__(self, *, relaxed: int = 1) -> None:
        self._relaxed = relaxed
        self._model: Any = engine.CpModelProto()
        self._variables = 0
        self._hints: dict[int, int] = {}

    def variable(self, low: int, high: int) -> int:
        """Add an integer variable."""
        self._model.variables.add().domain.extend([low, high])
        self._variables += 1
        return self._variables - 1

    def hold(
        self,
        entries: Iterable[tuple[int, int]],
        low: int = -FAR,
        high: int = FAR,
        given: tuple[int, ...] = (),
    ) -> None:
        """Add a row: the sum is between `low` and `high` if all variables in `given` are 1."""
        row = self._model.constraints.add()
        variables, factors = _columns(entries)
        row.linear.vars.extend(variables)
        row.linear.coeffs.extend(factors)
        row.linear.domain.extend([low, high])
        if given:
            row.enforcement_literal.extend(list(given))

    def minimise(self, entries: Iterable[tuple[int, int]]) -> None:
        """Replace the objective."""
        self._model.clear_objective()
        variables, factors = _columns(entries)
        self._model.objective.vars.extend(variables)
        self._model.objective.coeffs.extend(factors)

    def hint(self, values: Mapping[int, int]) -> None:
        """Set a solution to start from."""
        self._model.clear_solution_hint()
        self._model.solution_hint.vars.extend(list(values))
        self._model.solution_hint.values.extend(list(values.values()))

    def solve(self, ticks: int, seconds: float) -> IntegerSolution:
        """Search for at most this many ticks, and no longer than this many seconds."""
        parameters: Any = engine.SatParameters()
        parameters.num_workers = 1
        parameters.random_seed = 1
        parameters.linearization_level = self._relaxed
        if self._relaxed > 1:
            parameters.search_branching = engine.SatParameters.LP_SEARCH
        parameters.max_deterministic_time = max(0.001, ticks / TICKS_PER_UNIT)
        parameters.max_time_in_seconds = max(0.01, seconds)
        wrapper: Any = engine.SolveWrapper()
        wrapper.set_parameters(parameters)
        answer: Any = wrapper.solve(self._model)
        ending = _ENDINGS.get(answer.status, Ending.UNKNOWN)
        found = ending in {Ending.OPTIMAL, Ending.FEASIBLE}
        return IntegerSolution(
            ending=ending,
            values=[int(value) for value in answer.solution] if found else [],
            objective=round(answer.objective_value) if found else 0,
            bound=float(answer.best_objective_bound),
            ticks=int(answer.deterministic_time * TICKS_PER_UNIT),
        )


_ENDINGS = {
    engine.OPTIMAL: Ending.OPTIMAL,
    engine.FEASIBLE: Ending.FEASIBLE,
    engine.INFEASIBLE: Ending.IMPOSSIBLE,
}


def _columns(entries: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    pairs = [(int(variable), int(factor)) for variable, factor in entries if factor]
    return [variable for variable, _ in pairs], [factor for _, factor in pairs]
