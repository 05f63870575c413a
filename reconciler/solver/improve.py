"""Improving a plan by taking some of its nodes apart and packing their units anew.

Prices tell which nodes are wasteful: those that cost more than what is on them is worth. Some of
them are emptied, with others for company, and their units go the way of the whole problem once
more, from shares to whole nodes. So few units are left that this takes a fraction of the time and
comes much closer to the best; what comes out cheaper stays.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.dive import Dive
from reconciler.solver.draft import Draft, Stock, joined, rank
from reconciler.solver.finish import right_sized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.bound import Values
    from reconciler.solver.budget import Budget
    from reconciler.solver.pattern import Patterns
    from reconciler.solver.table import Table

SIZES = (6, 10, 16, 24)
"""How many nodes are taken apart at once, in turn."""


def improve(
    table: Table,
    draft: Draft,
    values: Values,
    patterns: Patterns,
    *,
    budget: Budget,
    patience: int,
) -> Draft:
    """A draft that is no worse, and better when the budget lets anything be found."""
    chance = random.Random(1)  # noqa: S311 - a seed makes the same plan every time; no secret
    draft = draft.singles()
    idle = turn = 0
    while idle < patience and not budget.over and len(draft.times) > 1:
        chosen = _choose(table, draft, values, number=SIZES[turn % len(SIZES)], chance=chance)
        better = _repacked(table, draft, values, patterns, chosen=chosen, budget=budget)
        idle = idle + 1 if better is None else 0
        draft = draft if better is None else better.singles()
        turn += 1
    return draft


def _choose(
    table: Table, draft: Draft, values: Values, *, number: int, chance: random.Random
) -> NDArray[np.bool_]:
    """Wasteful nodes and some others, the more wasteful the likelier."""
    excess = np.maximum(table.price[draft.offers] - draft.counts @ values.units, 0.0)
    likely = excess + 0.05 * float(excess.mean()) + 1e-9
    # Exponential keys: the smallest are a sample without replacement, weighted by what is likely.
    draws = np.array([chance.random() for _ in range(len(likely))])
    keys = -np.log(np.maximum(draws, 1e-12)) / likely
    chosen = np.zeros(len(likely), dtype=np.bool_)
    chosen[np.argsort(keys, kind="stable")[:number]] = True
    return chosen


def _repacked(
    table: Table,
    draft: Draft,
    values: Values,
    patterns: Patterns,
    *,
    chosen: NDArray[np.bool_],
    budget: Budget,
) -> Draft | None:
    """The draft with the chosen nodes packed anew, when that is better."""
    kept = draft.rows(~chosen)
    left = table.demand - kept.placed()
    stock = Stock.of(table, kept)
    news = Dive(table, values, patterns, budget).run(stock, left)
    trial = joined([kept, right_sized(table, news, used=kept)])
    return trial if rank(table, trial) < rank(table, draft) else None
