"""Improving a plan by taking some of its nodes apart and packing their units anew.

Prices tell which nodes are wasteful: those that cost more than what is on them is worth. Some of
them are emptied, with others for company, and their units go the way of the whole problem once
more, from shares to whole nodes. So few units are left that this takes a fraction of the time and
comes much closer to the best; what comes out cheaper stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Draft, Stock, joined_drafts, rank
from reconciler.solver.packing.dive import Dive
from reconciler.solver.packing.finish import right_sized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.pattern import Patterns
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.bound import DualValues
    from reconciler.solver.model.budget import Budget

SIZES = (6, 10, 16, 24)
"""How many nodes are taken apart at once, in turn."""


WASTEFUL = 0.03
"""A node is wasteful when at least this share of its cost isn't worth it."""
MOST = 0.55
"""Where more of the cost than this is on wasteful nodes, the whole is as soon packed anew."""
FEW = 60
"""So many units are packed anew in no time, all of them if need be."""


def mend(
    table: Table, draft: Draft, values: DualValues, patterns: Patterns, *, budget: Budget
) -> Draft:
    """The same nodes with all the wasteful ones packed anew at once, if that is better.

    A first draft is good but for pods that are about as large as the nodes they are on.
    """
    work = _Work(table, draft.singles(), values, Dive(table, values, patterns, budget))
    while not budget.over:
        chosen = work.wasteful()
        cost = table.price[work.draft.offers]
        most = 1.0 if table.demand.sum() <= FEW else MOST
        if cost[chosen].sum() > most * cost.sum() or not work.repack(chosen):
            break
    return work.draft


def improve(
    table: Table,
    draft: Draft,
    values: DualValues,
    patterns: Patterns,
    *,
    budget: Budget,
    patience: int,
) -> Draft:
    """A draft that is no worse, and better when the budget lets anything be found."""
    work = _Work(table, draft.singles(), values, Dive(table, values, patterns, budget))
    idle = turn = 0
    while idle < patience and not budget.over and len(work.draft.times) > 1:
        budget.spend(300 + len(work.draft.times) * 0.3)
        chosen = work.some(SIZES[turn % len(SIZES)])
        idle = 0 if work.repack(chosen) else idle + 1
        turn += 1
    return work.draft


class _Work:
    """The draft with what is known of it, so that a try costs no more than its own few nodes."""

    def __init__(self, table: Table, draft: Draft, values: DualValues, dive: Dive) -> None:
        self.table = table
        self.draft = draft
        self.values = values
        self.dive = dive
        self.chance = np.random.default_rng(1)
        self.stock = Stock.of(table, draft)
        self.missing = table.demand - draft.placed()
        self.excess = self._excess(draft)

    def _excess(self, draft: Draft) -> NDArray[np.float64]:
        """What each node costs beyond the worth of what is on it."""
        worth = draft.counts @ self.values.units
        return np.asarray(np.maximum(self.table.price[draft.offers] - worth, 0.0))

    def repack(self, chosen: NDArray[np.bool_]) -> bool:
        """Empty some nodes and pack them anew; says whether that was better and so was kept."""
        old = self.draft.rows(chosen)
        for o in old.offers.tolist():
            self.stock.take(o, -1)
        rest = replace(self.table, demand=self.missing + old.placed())
        left = rest.demand.copy()
        news = right_sized(self.table, self.dive.run(self.stock, left), self.stock)
        better = rank(rest, news) < rank(rest, old)
        for o, times in zip(news.offers.tolist(), news.times.tolist(), strict=True):
            self.stock.take(o, 0 if better else -times)
        if better:
            self._exchange(chosen, news.singles(), rest.demand)
        else:
            for o in old.offers.tolist():
                self.stock.take(o, 1)
        return better

    def wasteful(self) -> NDArray[np.bool_]:
        """All nodes that cost clearly more than what is on them is worth."""
        return np.asarray(self.excess > WASTEFUL * self.table.price[self.draft.offers])

    def some(self, number: int) -> NDArray[np.bool_]:
        """So many nodes, the more wasteful the likelier."""
        likely = self.excess + 0.05 * float(self.excess.mean()) + 1e-9
        # Exponential keys: the smallest are a sample without replacement, weighted by `likely`.
        keys = self.chance.exponential(size=len(likely)) / likely
        chosen = np.zeros(len(likely), dtype=np.bool_)
        chosen[np.argsort(keys, kind="stable")[:number]] = True
        return chosen

    def _exchange(self, chosen: NDArray[np.bool_], news: Draft, demand: NDArray[np.int64]) -> None:
        self.draft = joined_drafts([self.draft.rows(~chosen), news])
        self.missing = demand - news.placed()
        self.excess = np.concatenate([self.excess[~chosen], self._excess(news)])
