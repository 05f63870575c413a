"""No plan is cheaper than a lower bound, whatever values the bound is computed from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.solver.arrays.setting import setting_of
from reconciler.solver.bound.bound import DualValues, lower_bound
from reconciler.solver.bound.relax import relax
from reconciler.solver.model.budget import Budget
from reconciler.solver.model.problem import Effort
from tests.scheduling.build import patient
from tests.solver.brute_force import optimum
from tests.solver.problems import plain, ruled, spread_over_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.problem import Problem

    Suggested = Callable[[Table, np.random.Generator], DualValues]

SUGGESTIONS = 3
"""Rows of resource prices, of which the bound takes the best for each offer."""


def any_values(table: Table, chance: np.random.Generator) -> DualValues:
    """Values of all sizes from a millionth of a price to a thousandfold, and many that are 0."""

    def amounts(*shape: int) -> NDArray[np.float64]:
        sizes = 10.0 ** chance.uniform(-1, 8, size=shape)
        return np.asarray(np.where(chance.random(shape) < 0.2, 0.0, sizes))

    return DualValues(
        units=amounts(table.classes),
        limits=amounts(len(table.limits)),
        minima=amounts(len(table.minima)),
        resources=amounts(SUGGESTIONS, table.size.shape[1]),
    )


def nearly_right_values(table: Table, chance: np.random.Generator) -> DualValues:
    """What the linear program says, with an error in every figure: bounds close to the truth."""
    relaxed = relax(table, Budget(Effort.NORMAL.value, math.inf))
    assert relaxed is not None
    right = relaxed.values

    def spoilt(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(values * np.exp(chance.normal(0.0, 0.2, size=values.shape)))

    return DualValues(
        units=spoilt(right.units),
        limits=spoilt(right.limits),
        minima=spoilt(right.minima),
        resources=spoilt(right.resources),
    )


def drawn(seed: int) -> Problem:
    return (plain, ruled, spread_over_nodes)[seed % 3](seed)


@pytest.mark.parametrize("suggested", [any_values, nearly_right_values])
@patient
@given(seed=st.integers(0, 10_000), values=st.integers(0, 10_000))
def test_no_plan_undercuts_a_bound_of_whatever_values(
    suggested: Suggested, seed: int, values: int
) -> None:
    problem = drawn(seed)
    best, table = optimum(problem), setting_of(problem).relaxed
    if best is None or not table.classes or not table.offers:
        return
    priorities = sorted({pod.priority for pod in problem.classes}, reverse=True)
    left = dict(zip(priorities, best[0], strict=True))
    assert lower_bound(table, suggested(table, np.random.default_rng(values)), left) <= best[1]
