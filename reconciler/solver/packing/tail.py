"""Packs the last units greedily: node by node, always the one with the most value for its price.

For a whole problem this would be poor, because it takes the easy pods first. For the last few units
it is fast, and the choice among all sizes of nodes matters more than the order of pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Draft, Stock, draft_of
from reconciler.solver.arrays.fill import divisors, fill
from reconciler.solver.bound.bound import node_cost

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.bound import DualValues
    from reconciler.solver.model.budget import Budget


MANY = 24
"""With more classes than this, only some of the offers are filled for each node."""
AT_ONCE = 64
"""The number of offers that are filled together then."""


def pack_tail(
    table: Table, values: DualValues, *, stock: Stock, left: NDArray[np.int64], budget: Budget
) -> Draft:
    """Nodes for what is left, as long as any can be bought; reduces `stock` and `left`."""
    rows: list[tuple[int, NDArray[np.int64], int]] = []
    hopes = _Hopes(table, floored(table, values), node_cost(table, values), budget)
    while left.any():
        usable = np.flatnonzero(stock.available() & table.allowed[left > 0].any(axis=0))
        if not len(usable):
            break
        choice = hopes.best_node(usable, left)
        if choice is None:
            break
        o, counts = choice
        present = counts > 0
        times = stock.at_most(o, int((left[present] // counts[present]).min()))
        rows.append((o, counts, times))
        stock.take(o, times)
        left -= counts * times
    return draft_of(table, rows)


def floored(table: Table, values: DualValues) -> NDArray[np.float64]:
    """The values with a minimum for each class: a greedy choice ignores what has no value.

    If there are limits, pods may be left out, so each priority is worth more than the lower ones.
    """
    capacity = np.maximum(table.capacity.max(axis=0, initial=1.0), 1.0)
    share = (table.size / capacity).max(axis=1, initial=0.0)
    least = 1e-3 * float(table.price.max(initial=1.0)) * np.maximum(share, 1e-6)
    worth = np.maximum(values.units, least)
    if len(table.limits):
        steps = np.unique(table.priority, return_inverse=True)[1].reshape(-1)
        worth = worth * 100.0 ** np.minimum(steps, 3)
    return np.asarray(worth)


class _Hopes:
    """The value for its price that a node of each offer had when it was last filled.

    It only falls as units are placed. So with many classes the offers with the highest old values
    are filled first, and the others are skipped once none of them can be better than the best.
    """

    def __init__(
        self,
        table: Table,
        worth: NDArray[np.float64],
        cost: NDArray[np.float64],
        budget: Budget,
    ) -> None:
        self.table = table
        self.worth = worth
        self.cost = cost
        self.budget = budget
        self.sizes = divisors(table)
        self.ratio = np.full(table.offers, np.inf)

    def best_node(
        self, usable: NDArray[np.intp], left: NDArray[np.int64]
    ) -> tuple[int, NDArray[np.int64]] | None:
        """The offer and the content with the most value for their price."""
        waiting = np.flatnonzero(left)
        step = len(usable) if len(waiting) <= MANY else AT_ONCE
        promising = usable[np.argsort(-self.ratio[usable], kind="stable")]
        best: tuple[float, int, NDArray[np.int64]] | None = None
        for start in range(0, len(promising), step):
            offers = np.sort(promising[start : start + step])
            # Offers are sorted by old ratios, which are upper limits: the rest can't be better.
            if best is not None and best[0] >= float(self.ratio[offers].max()):
                break
            found = self._filled(offers, waiting, left)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
        return None if best is None else best[1:]

    def _filled(
        self, offers: NDArray[np.intp], waiting: NDArray[np.intp], left: NDArray[np.int64]
    ) -> tuple[float, int, NDArray[np.int64]] | None:
        """The best of some offers with its ratio; a node that holds all that is left is best."""
        contents = self._candidates(offers, waiting, left)
        self.budget.spend(400 + len(waiting) * (20 + 0.2 * len(offers)))
        gain = contents @ self.worth[waiting]
        price = np.maximum(np.tile(self.cost[offers], 2), 1e-6)
        ratio = np.where(gain > 0, gain / price, -1.0)
        self.ratio[offers] = ratio.reshape(2, -1).max(axis=0)
        complete = contents.sum(axis=1) == left.sum()
        # A node for the whole rest ends the work. Of several, the cheapest is best, whatever the
        # value for its price.
        if complete.any():
            ratio = np.where(complete, 1.0 / price, -1.0)
        best = int(ratio.argmax())
        if ratio[best] <= 0:
            return None
        counts = np.zeros_like(left)
        counts[waiting] = contents[best]
        return float(ratio[best]), int(offers[best % len(offers)]), counts

    def _candidates(
        self, offers: NDArray[np.intp], waiting: NDArray[np.intp], left: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Two contents for each offer: the largest units first, and the most valuable first."""
        table = self.table
        capacity, clashes = table.capacity[offers], table.clashes
        share = _shares(table.size[waiting], capacity)
        by_size = (-share).argsort(axis=1, kind="stable")
        by_worth = (-self.worth[waiting] / np.maximum(share, 1e-9)).argsort(axis=1, kind="stable")
        most = np.minimum(left[waiting], table.per_node[waiting])
        ceiling = np.where(table.allowed[waiting[:, None], offers].T, most, 0.0)
        return fill(
            free=np.concatenate([capacity, capacity]),
            order=np.concatenate([by_size, by_worth]),
            ceiling=np.concatenate([ceiling, ceiling]),
            sizes=self.sizes[waiting],
            clashes=None if clashes is None else clashes[np.ix_(waiting, waiting)],
        )


def _shares(size: NDArray[np.float64], capacity: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of each node that a unit of each class takes, by its scarcest resource."""
    share = np.zeros((len(capacity), len(size)))
    for needs, room in zip(size.T, np.maximum(capacity, 1.0).T, strict=True):
        np.maximum(share, needs / room[:, None], out=share)
    return share
