"""The best content of one node, exactly: what greedy filling misses, and a tighter bound.

Where pods are about as large as nodes, greedy contents are often a third short of the best and the
relaxation believes in nodes that can't be filled. A small program over integers per offer finds the
best content in some milliseconds; the most that a node can really hold is what bounds the cost.
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
"""Values become integers in steps of the dearest node's millionth, rounded up."""
TICKS_EACH = 30_000


def best_content(
    table: Table, o: int, *, units: NDArray[np.float64], budget: Budget
) -> tuple[NDArray[np.int64], float]:
    """The worthiest content of one node of an offer, and a worth that none exceeds."""
    scale = GRAIN / max(float(table.price.max(initial=1.0)), 1e-6)
    wanted = np.flatnonzero(table.allowed[:, o] & (units > 0))
    program = IntegerProgram()
    most = np.minimum(table.demand[wanted], table.per_node[wanted]).astype(np.int64)
    variables = [program.variable(0, int(n)) for n in most.tolist()]
    for r in range(table.size.shape[1]):
        sizes = table.size[wanted, r].astype(np.int64).tolist()
        capacity = int(table.capacity[o, r])
        program.hold(zip(variables, sizes, strict=True), high=capacity)
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
    """Best contents of the offers that seem to hold most for their cost.

    Says how many joined, and for each offer a worth that no content exceeds.

    It ends when the offer that seems best is known exactly: no other can change the bound.
    """
    table = master.table
    held = most_value(table, values)
    cost = np.maximum(node_cost(table, values), 1e-6)
    known: set[int] = set()
    joined = 0
    for _ in range(number):
        o = int((held / cost).argmax())
        if o in known or budget.over:
            break
        known.add(o)
        counts, most = best_content(table, o, units=values.units, budget=budget)
        held[o] = min(held[o], most)
        if float(counts @ values.units) > cost[o] * (1 + 1e-6) and _peaceful(table, counts):
            joined += master.add(o, counts)
    return joined, held


def _peaceful(table: Table, counts: NDArray[np.int64]) -> bool:
    """Whether no two classes of a content repel each other; the program above doesn't ask."""
    if table.clashes is None:
        return True
    present = np.flatnonzero(counts)
    return not table.clashes[np.ix_(present, present)].any()
