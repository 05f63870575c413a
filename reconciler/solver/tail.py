"""The last units, too few for a mix: node after node, always the one that gives most for its price.

Greedy choice by value per price is poor for a whole problem, because it takes the easy pods first;
for the last handful it is quick, and choosing among all sizes of nodes matters more there than the
order of pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.bound import node_cost
from reconciler.solver.draft import Draft, Stock, draft_of
from reconciler.solver.fill import divisors, fill

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.bound import Values
    from reconciler.solver.budget import Budget
    from reconciler.solver.table import Table


def pack_tail(
    table: Table, values: Values, *, stock: Stock, left: NDArray[np.int64], budget: Budget
) -> Draft:
    """Nodes for what is left, as long as anything more can be had; reduces stock and left."""
    rows: list[tuple[int, NDArray[np.int64], int]] = []
    worth = floored(table, values)
    while left.any():
        found = _best_node(table, worth=worth, values=values, stock=stock, left=left, budget=budget)
        if found is None:
            break
        o, counts = found
        present = counts > 0
        times = stock.at_most(o, int((left[present] // counts[present]).min()))
        rows.append((o, counts, times))
        stock.take(o, times)
        left -= counts * times
    return draft_of(table, rows)


def floored(table: Table, values: Values) -> NDArray[np.float64]:
    """Values in which no class is worth nothing: greedy choice can't see what has no value."""
    capacity = np.maximum(table.capacity.max(axis=0, initial=1.0), 1.0)
    share = (table.size / capacity).max(axis=1, initial=0.0)
    urgency = 1.0 + np.unique(table.priority, return_inverse=True)[1].reshape(-1)
    least = 1e-3 * float(table.price.max(initial=1.0)) * np.maximum(share, 1e-6)
    return np.asarray(np.maximum(values.units, least) * urgency)


def _best_node(
    table: Table,
    *,
    worth: NDArray[np.float64],
    values: Values,
    stock: Stock,
    left: NDArray[np.int64],
    budget: Budget,
) -> tuple[int, NDArray[np.int64]] | None:
    waiting = np.flatnonzero(left)
    usable = np.flatnonzero(stock.available() & table.allowed[waiting].any(axis=0))
    if not len(usable):
        return None
    counts = candidates(table, usable, waiting=waiting, left=left, worth=worth)
    budget.spend(len(usable) * len(waiting) * 2 * 0.12 + 40 * len(waiting))
    gain = counts @ worth
    cost = node_cost(table, values)[np.concatenate([usable, usable])]
    ratio = np.where(gain > 0, gain / np.maximum(cost, 1e-6), -1.0)
    # The whole rest on the cheapest node that holds it beats any ratio.
    complete = counts.sum(axis=1) == left.sum()
    if complete.any():
        ratio = np.where(complete, 1e18 / np.maximum(cost, 1e-6), -1.0)
    best = int(ratio.argmax())
    if ratio[best] <= 0:
        return None
    return int(usable[best % len(usable)]), counts[best]


def candidates(
    table: Table,
    usable: NDArray[np.intp],
    *,
    waiting: NDArray[np.intp],
    left: NDArray[np.int64],
    worth: NDArray[np.float64],
) -> NDArray[np.int64]:
    """A content for each offer twice: the largest units first, and the worthiest first."""
    capacity = np.maximum(table.capacity[usable], 1.0)
    share = (table.size[waiting][None, :, :] / capacity[:, None, :]).max(axis=2)
    density = worth[waiting][None, :] / np.maximum(share, 1e-9)
    by_size = np.argsort(-share, axis=1, kind="stable")
    by_worth = np.argsort(-density, axis=1, kind="stable")
    order = waiting[np.concatenate([by_size, by_worth])]
    ceiling = np.where(table.allowed[:, usable].T, np.minimum(left, table.per_node)[None, :], 0.0)
    free = np.concatenate([table.capacity[usable]] * 2)
    return fill(
        table, free=free, order=order, ceiling=np.concatenate([ceiling] * 2), sizes=divisors(table)
    )
