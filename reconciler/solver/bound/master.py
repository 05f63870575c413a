"""The linear program over known patterns: how many nodes of each pattern to buy.

It is closer to a plan than the first relaxation, because each column is a node that can really be
filled that way. It is kept during the whole search: patterns are added, and the demand changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.pattern import Patterns
from reconciler.solver.bound.bound import DualValues
from reconciler.solver.bound.linear import LinearProgram
from reconciler.solver.bound.offer_program import typical_price
from reconciler.solver.bound.relax import FEWER, penalties
from reconciler.solver.model.dimensions import ENDLESS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.draft import Stock
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.budget import Budget


class Master:
    """Patterns as columns; rows for the demand, for limits, and for offers with a maximum."""

    def __init__(self, table: Table, budget: Budget) -> None:
        self.table = table
        self.budget = budget
        self.patterns = Patterns()
        self.scale = typical_price(table)
        self.program = LinearProgram()
        self.demand = [self.program.at_least(float(n)) for n in table.demand]
        self.limits = [self.program.at_most(float(n)) for n in table.limits]
        limited = np.flatnonzero(table.most < ENDLESS).tolist()
        self.copies = {o: self.program.at_most(float(table.most[o])) for o in limited}
        # The first columns leave units out for a penalty, so the program always has a solution.
        for k, penalty in enumerate(penalties(table)):
            self.program.column(penalty / self.scale, [(self.demand[k], 1.0)])
        self.slack = table.classes
        self._closed: set[int] = set()
        self.objective = 0.0

    def add(self, offer: int, counts: NDArray[np.int64]) -> bool:
        """Add a pattern; returns whether it is new."""
        if not self.patterns.add(offer, counts):
            return False
        table = self.table
        classes = counts.nonzero()[0]
        entries = list(
            zip((self.demand[k] for k in classes.tolist()), counts[classes].tolist(), strict=True)
        )
        for row, amount in zip(self.limits, table.amounts[:, offer].tolist(), strict=True):
            if amount:
                entries.append((row, amount))
        if offer in self.copies:
            entries.append((self.copies[offer], 1.0))
        self.program.column(table.price[offer] / self.scale + FEWER, entries)
        return True

    def aim(self, left: NDArray[np.int64], stock: Stock) -> None:
        """Change what is to be placed, and what can still be bought."""
        for row, amount in zip(self.demand, left.tolist(), strict=True):
            self.program.require(row, float(amount))
        for row, room in zip(self.limits, stock.limits.tolist(), strict=True):
            self.program.allow(row, room)
        for o, row in self.copies.items():
            self.program.allow(row, float(stock.copies[o]))

    def forbid_oversized(self, left: NDArray[np.int64]) -> None:
        """Close the patterns that hold more units than are left."""
        # Half of such a pattern looks cheap to the program, but the whole node would be half empty.
        sizes = np.array(self.patterns.counts).reshape(len(self.patterns), self.table.classes)
        for p in np.flatnonzero((sizes > left).any(axis=1) & ~self.forbidden()).tolist():
            self._closed.add(p)
            self.program.cap(self.slack + p, 0.0)

    def forbidden(self) -> NDArray[np.bool_]:
        """The patterns that are closed."""
        closed = np.zeros(len(self.patterns), dtype=np.bool_)
        closed[list(self._closed)] = True
        return closed

    def solve(self) -> bool:
        """Solve for the current demand; returns whether there is a solution."""
        found = self.program.solve()
        self.budget.spend(self.program.ticks)
        self.objective = 0.0 if found is None else found * self.scale
        return found is not None

    def shares(self) -> NDArray[np.float64]:
        """The number of nodes of each pattern in the solution, as a fraction."""
        return self.program.values()[self.slack :]

    def prices(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The value of a unit of each class and the cost of a node of each offer, in money."""
        duals = self.program.duals() * self.scale
        units = np.maximum(duals[self.demand], 0.0)
        cost = self.table.price + np.maximum(-duals[self.limits], 0.0) @ self.table.amounts
        for o, row in self.copies.items():
            cost[o] += max(0.0, -duals[row])
        return units, cost

    def paid_for_limits(self) -> float:
        """What all limits together are worth at the prices of the last solution, in money."""
        duals = self.program.duals() * self.scale
        paid = float(np.maximum(-duals[self.limits], 0.0) @ self.table.limits)
        for o, row in self.copies.items():
            paid += max(0.0, -float(duals[row])) * float(self.table.most[o])
        return paid

    def useful(self, waste: float) -> list[int]:
        """The patterns of the last solution, and those that waste no more than this share."""
        units, cost = self.prices()
        counts = np.array(self.patterns.counts).reshape(len(self.patterns), self.table.classes)
        price = cost[self.patterns.offers]
        return np.flatnonzero(price - counts @ units <= waste * price).tolist()

    def values(self, like: DualValues) -> DualValues:
        """The values of the last solution, with the prices of resources of `like`."""
        duals = self.program.duals() * self.scale
        return DualValues(
            units=np.maximum(duals[self.demand], 0.0),
            limits=np.maximum(-duals[self.limits], 0.0),
            minima=np.zeros(len(self.table.minima)),
            resources=like.resources,
        )
