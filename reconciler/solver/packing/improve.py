"""Improves a plan by emptying some of its nodes and packing their units again.

Prices show which nodes are wasteful: those that cost more than what is on them is worth. Some of
them are emptied, together with a few others, and their units are packed in the same way as the
whole problem, by a dive. With so few units this takes a fraction of the time and comes much closer
to the optimum. The result is kept if it is cheaper.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Draft, Stock, joined_drafts, rank
from reconciler.solver.bound.bound import rents
from reconciler.solver.packing.dive import Dive
from reconciler.solver.packing.finish import right_sized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.pattern import Patterns
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.bound import DualValues
    from reconciler.solver.model.budget import Budget

SIZES = (6, 10, 16, 24)
"""How many nodes are emptied at once, in turn."""


WASTEFUL = 0.03
"""A node is wasteful if at least this share of its cost is waste."""
MOST = 0.55
"""If wasteful nodes have more than this share of the cost, mending is no faster than packing."""
FEW = 60
"""Up to this many units are always packed again, as that takes no time."""


def mend(
    table: Table, draft: Draft, values: DualValues, patterns: Patterns, *, budget: Budget
) -> Draft:
    """The draft with all wasteful nodes packed again together, if that is better.

    A first draft is good except for pods that are about as large as their nodes.
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
    """The draft, improved as far as the budget and the patience allow."""
    work = _Work(table, draft.singles(), values, Dive(table, values, patterns, budget))
    idle = turn = 0
    while idle < patience and not budget.over and len(work.draft.times) > 1:
        budget.spend(300 + len(work.draft.times) * 0.3)
        chosen = work.some(SIZES[turn % len(SIZES)])
        idle = 0 if work.repack(chosen) else idle + 1
        turn += 1
    return work.draft


class _Work:
    """The draft and its figures, kept up to date so that a try costs only its own few nodes."""

    def __init__(self, table: Table, draft: Draft, values: DualValues, dive: Dive) -> None:
        self.table = table
        self.draft = draft
        self.values = values
        self.dive = dive
        self.chance = np.random.default_rng(1)
        self.stock = Stock.of(table, draft)
        self.missing = table.demand - draft.placed()
        self.rents = rents(table, values)
        self.excess = self._excess(draft)

    def _excess(self, draft: Draft) -> NDArray[np.float64]:
        """What each node costs beyond the worth of what is on it."""
        worth = draft.counts @ self.values.units
        return np.asarray(np.maximum(self.rents[draft.offers] - worth, 0.0))

    def repack(self, chosen: NDArray[np.bool_]) -> bool:
        """Empty some nodes and pack their units again; returns whether that was better."""
        # The stock always is what the draft leaves, whether the try is kept or undone.
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
        """The nodes that cost clearly more than what is on them is worth."""
        return np.asarray(self.excess > WASTEFUL * self.rents[self.draft.offers])

    def some(self, number: int) -> NDArray[np.bool_]:
        """A random choice of nodes; wasteful ones are more likely."""
        # Good nodes need a chance too: a wasteful node often improves only together with the pods
        # of another one.
        likely = self.excess + 0.05 * float(self.excess.mean()) + 1e-9
        # The smallest of these exponential keys are a sample without replacement with the weights
        # `likely`.
        keys = self.chance.exponential(size=len(likely)) / likely
        chosen = np.zeros(len(likely), dtype=np.bool_)
        chosen[np.argsort(keys, kind="stable")[:number]] = True
        return chosen

    def _exchange(self, chosen: NDArray[np.bool_], news: Draft, demand: NDArray[np.int64]) -> None:
        self.draft = joined_drafts([self.draft.rows(~chosen), news])
        self.missing = demand - news.placed()
        self.excess = np.concatenate([self.excess[~chosen], self._excess(news)])
