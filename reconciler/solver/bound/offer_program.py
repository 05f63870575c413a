"""What the linear programs over a table have in common: rows for demand and limits, and offers.

Money is counted in typical prices and each resource in its largest capacity, because the engine is
exact near 1. Offers join one by one, each with a row for each of its resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.bound.bound import most_value, node_cost
from reconciler.solver.bound.linear import LinearProgram
from reconciler.solver.model.dimensions import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.bound import DualValues

MANY = 240
"""With more classes than this, a program uses clusters."""
Entry = tuple[int, float]
"""A row and the coefficient in it."""


class OfferProgram:
    """A linear program over a table; offers join it one by one."""

    def __init__(self, table: Table, capacity: NDArray[np.float64]) -> None:
        self.table = table
        self.scale = typical_price(table)
        self.weights = 1.0 / np.maximum(capacity.max(axis=0, initial=1.0), 1.0)
        self.program = LinearProgram()
        self.demand = [self.program.at_least(float(n)) for n in table.demand]
        self.limits = [self.program.at_most(float(n)) for n in table.limits]
        self.rows: dict[int, list[int]] = {}
        """The rows of each offer that has joined, one for each resource."""

    def leave_out(self, costs: Iterable[float]) -> None:
        """Add a column for each class that leaves a unit out, so that there is a solution."""
        for row, cost in zip(self.demand, costs, strict=True):
            self.program.column(cost, [(row, 1.0)])

    def offer(self, o: int, *, extra: float = 0.0, entries: Iterable[Entry] = ()) -> int:
        """Add the nodes of an offer; `extra` is added to their cost."""
        table, program = self.table, self.program
        self.rows[o] = rows = [program.at_most(0.0) for _ in range(table.size.shape[1])]
        capacity = table.capacity[o] * self.weights
        room = [(row, -float(amount)) for row, amount in zip(rows, capacity, strict=True)]
        limited = zip(self.limits, table.amounts[:, o], strict=True)
        taken = [(row, float(amount)) for row, amount in limited if amount]
        most = float(table.most[o]) if table.most[o] < ENDLESS else None
        cost = float(table.price[o]) / self.scale + extra
        return program.column(cost, [*room, *taken, *entries], most)

    def unit(self, k: int, rows: Iterable[int], *, entries: Iterable[Entry] = ()) -> int:
        """Add the units of a class that take these rows' resources."""
        sizes = (self.table.size[k] * self.weights).tolist()
        taken = [(row, size) for row, size in zip(rows, sizes, strict=True) if size]
        return self.program.column(0.0, [(self.demand[k], 1.0), *taken, *entries])

    def prices(self) -> NDArray[np.float64]:
        """What one more unit in each row adds to the lowest cost, in money."""
        return self.program.duals() * self.scale

    def paid(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """The resource prices of each offer in the program, in the order of the offers."""
        # The sign of a dual is that of its row: an upper limit has duals of zero or less.
        paid = -prices[[row for o in sorted(self.rows) for row in self.rows[o]]]
        shaped = paid.reshape(-1, self.table.size.shape[1])
        return np.asarray(np.maximum(shaped * self.weights, 0.0))


def typical_price(table: Table) -> float:
    """The median price: the unit of money in linear programs, which are exact near 1."""
    paid = table.price[table.price > 0]
    return float(np.median(paid)) if len(paid) else 1.0


def cheapest_offers(table: Table) -> set[int]:
    """The cheapest offer for each class by its scarcest resource."""
    chosen = set()
    capacity = np.maximum(table.capacity, 1e-9)
    for k in range(table.classes):
        share = (table.size[k][None, :] / capacity).max(axis=1, initial=0.0) * table.price
        # A node that exists costs nothing, and would be the cheapest for every class.
        share = np.where(table.allowed[k] & ~table.standing, share, np.inf)
        if np.isfinite(share).any():
            chosen.add(int(share.argmin()))
    return chosen


def worth_joining(
    table: Table, values: DualValues, known: Iterable[int], *, most: int
) -> NDArray[np.intp]:
    """The offers that would pay at these prices, the best ones, without those that have joined."""
    ratio = most_value(table, values) / np.maximum(node_cost(table, values), 1e-9)
    ratio[list(known)] = 0.0
    ratio[table.standing | (table.most <= 0)] = 0.0
    best = np.argsort(-ratio, kind="stable")[:most]
    return np.sort(best[ratio[best] > 1.0 + 1e-6])
