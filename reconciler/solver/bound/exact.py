"""Finds the best content of one node exactly, for better patterns and a better bound.

If pods are about as large as nodes, the best greedy content is often worth a third less than the
real best, and the relaxation fills nodes more than is possible. A small integer program for an
offer finds the best content in a few milliseconds, and its worth improves the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.bound.bound import most_value, node_cost
from reconciler.solver.bound.integer import Ending, IntegerProgram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.bound import DualValues
    from reconciler.solver.bound.master import Master
    from reconciler.solver.model.budget import Budget

GRAIN = 1_000_000
"""Values become integers: a millionth of the dearest price is 1."""
TICKS_EACH = 30_000


def best_content(
    table: Table, o: int, *, units: NDArray[np.float64], budget: Budget
) -> tuple[NDArray[np.int64], float]:
    """The content of one node of an offer with the highest worth, and an upper bound on it."""
    scale = GRAIN / max(float(table.price.max(initial=1.0)), 1e-6)
    wanted = np.flatnonzero(table.allowed[:, o] & (units > 0))
    program = IntegerProgram()
    most = np.minimum(table.demand[wanted], table.per_node[wanted]).astype(np.int64)
    variables = [program.variable(0, int(n)) for n in most.tolist()]
    for r in range(table.size.shape[1]):
        sizes = table.size[wanted, r].astype(np.int64).tolist()
        capacity = int(table.capacity[o, r])
        program.hold(zip(variables, sizes, strict=True), high=capacity)
    # Rounded up, so that the program's bound is also an upper bound for the real values.
    worth = np.ceil(units[wanted] * scale).astype(np.int64).tolist()
    program.minimise([(v, -w) for v, w in zip(variables, worth, strict=True)])
    found = program.solve(TICKS_EACH, budget.seconds_left)
    budget.spend(1500 + found.ticks)
    counts = np.zeros(table.classes, dtype=np.int64)
    if found.values:
        counts[wanted] = found.values
    bounded = found.ending in {Ending.OPTIMAL, Ending.FEASIBLE}
    return counts, -found.bound / scale if bounded else np.inf


def tighten(
    master: Master, values: DualValues, budget: Budget, number: int
) -> tuple[int, NDArray[np.float64]]:
    """Find the best contents of the offers that seem to hold the most value for their cost.

    Returns the number of patterns added, and for each offer an upper bound on a content's worth.
    """
    table = master.table
    held = most_value(table, values)
    cost = np.maximum(node_cost(table, values), 1e-6)
    known: set[int] = set()
    joined = 0
    for _ in range(number):
        o = int((held / cost).argmax())
        # The offer with the best ratio limits the bound. Once it is exact, no other can improve it.
        if o in known or budget.over:
            break
        known.add(o)
        counts, most = best_content(table, o, units=values.units, budget=budget)
        held[o] = min(held[o], most)
        if float(counts @ values.units) > cost[o] * (1 + 1e-6) and _peaceful(table, counts):
            joined += master.add(o, counts)
    return joined, held


def _peaceful(table: Table, counts: NDArray[np.int64]) -> bool:
    """Whether no two classes of a content clash; the program above doesn't know clashes."""
    if table.clashes is None:
        return True
    present = np.flatnonzero(counts)
    return not table.clashes[np.ix_(present, present)].any()
