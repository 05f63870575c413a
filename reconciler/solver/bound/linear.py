"""A linear program that grows column by column, solved by GLOP.

The simplex method keeps its basis between solves, so a program with a few new columns is solved
again in a fraction of the time. Its number of iterations measures work independently of the
machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ortools.linear_solver import pywraplp  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class LinearProgram:
    """Minimises the cost of columns subject to rows; no column is negative."""

    def __init__(self) -> None:
        self._solver: Any = pywraplp.Solver("", pywraplp.Solver.GLOP_LINEAR_PROGRAMMING)
        # Each of the two would make the engine lose its basis whenever a column is added.
        self._solver.SetSolverSpecificParametersAsString(
            "use_preprocessing: false use_scaling: false"
        )
        self._infinity = self._solver.infinity()
        self._rows: list[Any] = []
        self._columns: list[Any] = []
        self._entries = 0

    def at_least(self, amount: float) -> int:
        """Add a row whose sum must be at least the amount."""
        return self._row(amount, self._infinity)

    def at_most(self, amount: float) -> int:
        """Add a row whose sum must be at most the amount."""
        return self._row(-self._infinity, amount)

    def _row(self, low: float, high: float) -> int:
        self._rows.append(self._solver.RowConstraint(low, high, ""))
        return len(self._rows) - 1

    def require(self, row: int, amount: float) -> None:
        """Change the amount of an `at_least` row."""
        self._rows[row].SetLb(amount)

    def allow(self, row: int, amount: float) -> None:
        """Change the amount of an `at_most` row."""
        self._rows[row].SetUb(amount)

    def enter(self, row: int, column: int, value: float) -> None:
        """Set one coefficient."""
        self._rows[row].SetCoefficient(self._columns[column], value)

    def cap(self, column: int, most: float | None) -> None:
        """Change the upper limit of a column."""
        self._columns[column].SetUb(self._infinity if most is None else most)

    def column(
        self, cost: float, entries: Iterable[tuple[int, float]], most: float | None = None
    ) -> int:
        """Add a variable with its coefficients in the rows."""
        variable = self._solver.NumVar(0.0, self._infinity if most is None else most, "")
        self._solver.Objective().SetCoefficient(variable, cost)
        rows = self._rows
        for row, value in entries:
            rows[row].SetCoefficient(variable, value)
            self._entries += 1
        self._columns.append(variable)
        return len(self._columns) - 1

    def solve(self) -> float | None:
        """The lowest cost, or None if the engine found no optimum."""
        status = self._solver.Solve()
        if status != pywraplp.Solver.OPTIMAL:
            return None
        return float(self._solver.Objective().Value())

    @property
    def ticks(self) -> float:
        """The work of the last solve, in ticks."""
        # Fitted to times that were measured; an iteration costs more in a larger program.
        size = len(self._rows) + len(self._columns)
        return float(
            60
            + 0.35 * size
            + self._solver.iterations() * (4 + 0.012 * self._entries**0.5 * len(self._rows) ** 0.5)
        )

    def values(self) -> NDArray[np.float64]:
        """The value of each column."""
        return np.array([column.solution_value() for column in self._columns])

    def duals(self) -> NDArray[np.float64]:
        """What one more unit in each row would add to the lowest cost."""
        return np.array([row.dual_value() for row in self._rows])
