"""Lists all contents of a node that are worth enough, class by class for all offers at once.

If pods are about as large as nodes, there are few contents. With all of them listed, a small
problem is a choice among whole nodes, which is proven in a fraction of the time. Contents grow from
partial ones. A partial content is dropped when it can't become worth enough any more: the prices of
resources limit what its free room can still hold. At the end only full contents are kept, because a
larger content costs no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.bound.price import best_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.bound import DualValues
    from reconciler.solver.model.budget import Budget

TICKS_EACH = 40
"""Ticks for each partial content; if the budget is less, there are too many contents."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContents:
    """Row p is one node of offer `offers[p]` with `counts[p]` units."""

    offers: NDArray[np.intp]
    counts: NDArray[np.int64]

    def rows(self, kept: NDArray[np.intp]) -> NodeContents:
        """Some of the rows."""
        return NodeContents(offers=self.offers[kept], counts=self.counts[kept])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beginnings:
    """Partial contents, with units of the first classes; `room` is by resource and row."""

    offers: NDArray[np.intp]
    room: NDArray[np.float64]
    worth: NDArray[np.float64]
    counts: NDArray[np.int64]

    def rows(self, kept: NDArray[np.intp] | NDArray[np.bool_]) -> _Beginnings:
        return _Beginnings(
            offers=self.offers[kept],
            room=self.room[:, kept],
            worth=self.worth[kept],
            counts=self.counts[kept],
        )


def full_contents(
    table: Table, values: DualValues, least: NDArray[np.float64], budget: Budget
) -> NodeContents | None:
    """All full contents worth at least `least[offer]`, or None if there are too many."""
    hopes = _Hopes(table, values)
    # Large classes first: they leave few choices, so that hopeless contents are dropped early.
    order = np.argsort(-hopes.share, kind="stable")
    found = _Beginnings(
        offers=np.arange(table.offers),
        room=table.capacity.T.copy(),
        worth=np.zeros(table.offers),
        counts=np.zeros((table.offers, table.classes), dtype=np.int64),
    )
    later, most = hopes.later(order), budget.left / TICKS_EACH
    # A proof needs all contents, so none may be lost to a rounding error.
    least = least - TOLERANCE * (1.0 + np.abs(least))
    for step, k in enumerate(order.tolist()):
        found = _with_units(table, found, k, worth=float(values.units[k]))
        # At most: the worth so far, the price of the free room, and the surplus of later classes.
        free = (hopes.prices[found.offers].T * found.room).sum(axis=0)
        hoped = found.worth + free + later[step + 1, found.offers]
        found = found.rows(hoped >= least[found.offers])
        budget.spend(40 + len(found.worth) * (0.3 + 0.004 * table.classes))
        if len(found.worth) > most or budget.over:
            return None
    found = found.rows(found.worth >= least[found.offers])
    full = found.rows(_is_full(table, found))
    budget.spend(40 + len(found.worth) * table.classes * 0.02)
    return NodeContents(offers=full.offers, counts=full.counts)


class _Hopes:
    """Upper limits on what a partial content can still gain, from prices of resources."""

    def __init__(self, table: Table, values: DualValues) -> None:
        self.prices = best_weights(table, values)
        excess = values.units[:, None] - table.size @ self.prices.T
        most = np.minimum(table.per_node, table.demand)
        self.excess = np.where(table.allowed, np.maximum(excess, 0.0), 0.0) * most[:, None]
        ceiling = np.maximum(table.capacity.max(axis=0, initial=1.0), 1.0)
        self.share = (table.size / ceiling).max(axis=1, initial=0.0)

    def later(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """For each step and offer, what later classes are worth beyond their resources."""
        rest = np.cumsum(self.excess[order[::-1]], axis=0)[::-1]
        return np.vstack([rest, np.zeros(self.excess.shape[1])])


def _with_units(table: Table, found: _Beginnings, k: int, *, worth: float) -> _Beginnings:
    """Each partial content with each possible number of units of one more class."""
    used = table.size[k] > 0
    ceiling = float(min(table.per_node[k], table.demand[k]))
    fits = np.full(len(found.worth), ceiling)
    if used.any():
        held = np.floor((found.room[used] + 0.5) / table.size[k][used][:, None]).min(axis=0)
        fits = np.minimum(fits, held)
    fits = np.where(table.allowed[k, found.offers], fits, 0.0)
    if table.clashes is not None:
        fits = np.where((found.counts[:, table.clashes[k]] > 0).any(axis=1), 0.0, fits)
    times = fits.astype(np.int64) + 1
    rows = np.repeat(np.arange(len(times)), times)
    units = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    grown = found.rows(rows)
    counts = grown.counts
    counts[:, k] = units
    return _Beginnings(
        offers=grown.offers,
        room=grown.room - table.size[k][:, None] * units,
        worth=grown.worth + worth * units,
        counts=counts,
    )


def _is_full(table: Table, found: _Beginnings) -> NDArray[np.bool_]:
    """Whether there is no room for another unit of any class."""
    ceiling = np.minimum(table.per_node, table.demand)
    full = np.ones(len(found.worth), dtype=np.bool_)
    for k in range(table.classes):
        more = (found.room + 0.5 > table.size[k][:, None]).all(axis=0)
        more &= table.allowed[k, found.offers] & (found.counts[:, k] < ceiling[k])
        if table.clashes is not None:
            more &= ~(found.counts[:, table.clashes[k]] > 0).any(axis=1)
        full &= ~more
    return full & found.counts.any(axis=1)
