"""From fractions of patterns to whole nodes: fix some nodes, update the prices, and repeat.

Whole nodes are fixed first; then, step by step, a pattern that is used much and wastes little.
After each step, patterns that hold more than what is left are closed, because rounding them up
would buy room for pods that are already placed. New patterns for the rest replace them. When the
rest has become small enough, a new program is built for it alone, which is faster to solve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Draft, Stock, draft_of
from reconciler.solver.bound.bound import DualValues
from reconciler.solver.bound.columns import generate, join_best, pricing_of
from reconciler.solver.bound.master import Master
from reconciler.solver.packing.pack import remaining
from reconciler.solver.packing.tail import pack_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.pattern import Patterns
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.columns import ColumnPricing
    from reconciler.solver.model.budget import Budget

SHRUNK = 0.6
"""When the cost of the rest has fallen to this share, a new program is built for it."""
ROUNDS_ANEW = 14
ROUNDS_BETWEEN = 6
NEARLY = 0.002
"""If fixing nodes makes the rest dearer by more than this share, new patterns are priced."""

Row = tuple[int, "NDArray[np.int64]", int]


class Dive:
    """One dive from a demand to whole nodes, over the known patterns."""

    def __init__(
        self, table: Table, values: DualValues, patterns: Patterns, budget: Budget
    ) -> None:
        self.table = table
        self.values = values
        self.patterns = patterns
        self.budget = budget

    def run(self, stock: Stock, left: NDArray[np.int64]) -> Draft:
        """Find nodes for what is left; reduces `stock` and `left`."""
        rows: list[Row] = []
        while left.any() and not self.budget.over:
            level = _Level(self, stock, left)
            taken = level.descend()
            rows += taken
            if not taken:
                break
        # What the levels leave, for example when the budget is spent, is packed greedily.
        rest = pack_tail(self.table, self.values, stock=stock, left=left, budget=self.budget)
        found = draft_of(self.table, rows)
        return Draft(
            offers=np.concatenate([found.offers, rest.offers]),
            counts=np.concatenate([found.counts, rest.counts]),
            times=np.concatenate([found.times, rest.times]),
        )


class _Level:
    """The program for what is left at one moment, over a table with only that."""

    def __init__(self, dive: Dive, stock: Stock, left: NDArray[np.int64]) -> None:
        self.dive = dive
        self.stock = stock
        self.left = left
        self.kept = np.flatnonzero(left)
        whole = remaining(dive.table, stock=stock, left=left)
        usable = stock.available() & dive.table.allowed[self.kept].any(axis=0)
        self.offers = np.flatnonzero(usable)
        self.table = whole.with_classes(self.kept).with_offers(self.offers)
        values = dive.values
        self.values = DualValues(
            units=values.units[self.kept],
            limits=values.limits,
            minima=values.minima,
            resources=values.resources,
        )
        self.master = Master(self.table, dive.budget)
        self._take_over(dive.patterns)

    def _take_over(self, patterns: Patterns) -> None:
        """Add the known patterns that hold no more than what is left."""
        place = {int(o): position for position, o in enumerate(self.offers)}
        counts = np.array(patterns.counts).reshape(len(patterns), self.dive.table.classes)
        for p in np.flatnonzero((counts <= self.left).all(axis=1)).tolist():
            if patterns.offers[p] in place:
                self.master.add(place[patterns.offers[p]], counts[p, self.kept].copy())

    def descend(self) -> list[Row]:
        """Fix nodes until the rest is so small that a new program pays."""
        pricing = pricing_of(self.master, self.values)
        generate(self.master, pricing, self.dive.budget, ROUNDS_ANEW)
        rows: list[Row] = []
        beginning = 0.0
        while self.master.solve():
            shares = self.master.shares()
            rest = self._rest()
            beginning = beginning or rest
            self._remember(shares)
            if rest < SHRUNK * beginning or self.dive.budget.over:
                break
            taken = self._take(shares)
            rows += taken
            if not taken or not self.left.any():
                break
            spent = sum(float(self.dive.table.price[o]) * times for o, _, times in taken)
            self._refresh(pricing, rest - spent)
        return rows

    def _take(self, shares: NDArray[np.float64]) -> list[Row]:
        rows: list[Row] = []
        for p, times in self._chosen(shares):
            offer = int(self.offers[self.master.patterns.offers[p]])
            counts = np.zeros(self.dive.table.classes, dtype=np.int64)
            counts[self.kept] = self.master.patterns.counts[p]
            present = counts > 0
            # Patterns may overlap, so an earlier one may have taken units of this one.
            full = int((self.left[present] // counts[present]).min())
            number = self.stock.at_most(offer, min(times, full))
            if number:
                rows.append((offer, counts, number))
                self.stock.take(offer, number)
                self.left -= counts * number
        return rows

    def _chosen(self, shares: NDArray[np.float64]) -> list[tuple[int, int]]:
        """Whole nodes with little waste; or else the pattern with the best mix of use and waste."""
        used = shares > 1e-6
        if not used.any():
            return []
        # A wasteful pattern waits even if it is whole: once others are fixed, pricing may find a
        # better one for the rest.
        waste = self._waste()
        whole = np.floor(shares + 1e-6)
        good = np.flatnonzero((whole > 0) & (waste <= np.quantile(waste[used], 0.6)))
        if len(good):
            return [(int(p), int(whole[p])) for p in good]
        best = int((shares * np.maximum(1.0 - 4.0 * waste, 0.05)).argmax())
        return [(best, max(1, int(whole[best])))]

    def _waste(self) -> NDArray[np.float64]:
        """The share of each pattern's cost that its worth doesn't cover, by the relaxation."""
        # Not at the prices of this program: there each pattern in use is worth exactly its cost.
        patterns = self.master.patterns
        counts = np.array(patterns.counts).reshape(len(patterns), self.table.classes)
        price = np.maximum(self.table.price[patterns.offers], 1e-6)
        return np.maximum(1.0 - counts @ self.values.units / price, 0.0)

    def _refresh(self, pricing: ColumnPricing, hoped: float) -> None:
        """Close oversized patterns, and add new ones until the rest costs about what is hoped."""
        left = self.left[self.kept]
        small = Stock(self.table, self.stock.copies[self.offers], self.stock.limits)
        self.master.aim(left, small)
        self.master.forbid_oversized(left)
        dry = 0
        for _ in range(ROUNDS_BETWEEN):
            if not left.any() or not self.master.solve() or self.dive.budget.over:
                return
            if self._rest() <= hoped * (1 + NEARLY):
                return
            units, cost = self.master.prices()
            found = join_best(self.master, pricing, units=units, aimed=units, cost=cost, left=left)
            dry = 0 if found else dry + 1
            if dry > 2:
                return

    def _rest(self) -> float:
        """The cost of the last solution, including the penalty for unplaced units."""
        return self.master.objective

    def _remember(self, shares: NDArray[np.float64]) -> None:
        """Add the patterns of the last solution to the known ones."""
        for p in np.flatnonzero(shares > 1e-6).tolist():
            wide = np.zeros(self.dive.table.classes, dtype=np.int64)
            wide[self.kept] = self.master.patterns.counts[p]
            self.dive.patterns.add(int(self.offers[self.master.patterns.offers[p]]), wide)
