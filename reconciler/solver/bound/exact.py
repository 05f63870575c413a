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
    """Find the best contents of the offers that lower the bound most.

    Returns the number of patterns added, and for each offer an upper bound on a content's worth.
    """
    table = master.table
    held, paid = most_value(table, values), master.prices()[1]
    limiting = _Limiting(table, np.maximum(node_cost(table, values), 0.0))
    joined = 0
    for _ in range(number):
        o = limiting.next(held)
        if o is None or budget.over:
            break
        counts, most = best_content(table, o, units=values.units, budget=budget)
        held[o] = min(held[o], most)
        if float(counts @ values.units) > paid[o] * (1 + 1e-6) and _peaceful(table, counts):
            joined += master.add(o, counts)
    return joined, held


class _Limiting:
    """Which offer limits the bound most: of those that weren't asked for yet."""

    def __init__(self, table: Table, cost: NDArray[np.float64]) -> None:
        self.cost = cost
        self.copies = table.most_there.astype(np.float64)
        self.endless = self.copies >= table.demand.sum()
        self.known = np.zeros(len(cost), dtype=np.bool_)

    def next(self, held: NDArray[np.float64]) -> int | None:
        """The next offer, or None if no other can improve the bound."""
        # An unlimited offer scales all values down, the one with the best ratio most of all. Once
        # that one is exact, no other of them matters.
        ratio = np.where(self.endless, held / np.maximum(self.cost, 1e-6), 0.0)
        best = int(ratio.argmax()) if len(ratio) else 0
        if not ratio.any() or self.known[best]:
            # A limited one, such as a node that exists, lowers the bound by its own surplus.
            scale = 1.0 / ratio[best] if ratio.any() else 1.0
            surplus = self.copies * np.maximum(held * scale - self.cost, 0.0)
            surplus[self.endless | self.known] = 0.0
            if not len(surplus) or not surplus.any():
                return None
            best = int(surplus.argmax())
        self.known[best] = True
        return best


def _peaceful(table: Table, counts: NDArray[np.int64]) -> bool:
    """Whether no two classes of a content clash; the program above doesn't know clashes."""
    if table.clashes is None:
        return True
    present = np.flatnonzero(counts)
    return not table.clashes[np.ix_(present, present)].any()
