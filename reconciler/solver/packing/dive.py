"""From shares of patterns to whole nodes: fix what is nearly whole, price anew, and go on.

Whole nodes are taken at once; then, step by step, a pattern that is used much and wastes little.
After each step patterns that hold more than what is left are closed, since rounding them up would
buy room for pods that no longer exist, and patterns made for just the rest take their place. When
the rest has shrunk, the program is built anew for the rest alone and gets quicker each time.
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
"""When the cost of the rest has fallen to this share, the program is built anew for the rest."""
ROUNDS_ANEW = 14
ROUNDS_BETWEEN = 6
NEARLY = 0.002
"""So much dearer than before may the rest become by taking a node, without more pricing."""

Row = tuple[int, "NDArray[np.int64]", int]


class Dive:
    """One descent from a demand to whole nodes, over the patterns that are known."""

    def __init__(
        self, table: Table, values: DualValues, patterns: Patterns, budget: Budget
    ) -> None:
        self.table = table
        self.values = values
        self.patterns = patterns
        self.budget = budget

    def run(self, stock: Stock, left: NDArray[np.int64]) -> Draft:
        """Nodes for all that is left; reduces stock and left."""
        rows: list[Row] = []
        while left.any() and not self.budget.over:
            level = _Level(self, stock, left)
            taken = level.descend()
            rows += taken
            if not taken:
                break
        rest = pack_tail(self.table, self.values, stock=stock, left=left, budget=self.budget)
        found = draft_of(self.table, rows)
        return Draft(
            offers=np.concatenate([found.offers, rest.offers]),
            counts=np.concatenate([found.counts, rest.counts]),
            times=np.concatenate([found.times, rest.times]),
        )


class _Level:
    """The program for what is left at one moment, in a table of only that."""

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
        """Known patterns that hold no more than what is left."""
        place = {int(o): position for position, o in enumerate(self.offers)}
        counts = np.array(patterns.counts).reshape(len(patterns), self.dive.table.classes)
        for p in np.flatnonzero((counts <= self.left).all(axis=1)).tolist():
            if patterns.offers[p] in place:
                self.master.add(place[patterns.offers[p]], counts[p, self.kept].copy())

    def descend(self) -> list[Row]:
        """Take nodes until the rest has shrunk so far that a smaller program pays."""
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
            full = int((self.left[present] // counts[present]).min())
            number = self.stock.at_most(offer, min(times, full))
            if number:
                rows.append((offer, counts, number))
                self.stock.take(offer, number)
                self.left -= counts * number
        return rows

    def _chosen(self, shares: NDArray[np.float64]) -> list[tuple[int, int]]:
        """Whole nodes that waste little; else the one pattern that is used most for its waste."""
        used = shares > 1e-6
        if not used.any():
            return []
        waste = self._waste()
        whole = np.floor(shares + 1e-6)
        good = np.flatnonzero((whole > 0) & (waste <= np.quantile(waste[used], 0.6)))
        if len(good):
            return [(int(p), int(whole[p])) for p in good]
        best = int((shares * np.maximum(1.0 - 4.0 * waste, 0.05)).argmax())
        return [(best, max(1, int(whole[best])))]

    def _waste(self) -> NDArray[np.float64]:
        """The share of each pattern's cost that isn't worth it by the relaxation's prices."""
        patterns = self.master.patterns
        counts = np.array(patterns.counts).reshape(len(patterns), self.table.classes)
        price = np.maximum(self.table.price[patterns.offers], 1e-6)
        return np.maximum(1.0 - counts @ self.values.units / price, 0.0)

    def _refresh(self, pricing: ColumnPricing, hoped: float) -> None:
        """Close what is too large now, and make patterns until the rest costs what was hoped."""
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
        """What the last solution would cost, and be fined for units without a place."""
        return self.master.objective

    def _remember(self, shares: NDArray[np.float64]) -> None:
        """Patterns that were of use here are known from now on."""
        for p in np.flatnonzero(shares > 1e-6).tolist():
            wide = np.zeros(self.dive.table.classes, dtype=np.int64)
            wide[self.kept] = self.master.patterns.counts[p]
            self.dive.patterns.add(int(self.offers[self.master.patterns.offers[p]]), wide)
