"""Every content of a node that is worth enough, one class after the other for all offers at once.

Where pods are about as large as nodes there are few contents, and with all of them at hand a small
problem is a choice among whole nodes, which is proven in a fraction of the time. A beginning that
can't become worth enough any more is dropped: what its free room could still hold at most is known
from prices of the resources. Of the rest only the full ones are kept, as more never costs more.
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
"""With more beginnings at one time than so many ticks allow there are too many contents."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContents:
    """Row p is one node of offer `offers[p]` with `counts[p]` units."""

    offers: NDArray[np.intp]
    counts: NDArray[np.int64]

    def rows(self, kept: NDArray[np.intp]) -> NodeContents:
        """Some of them."""
        return NodeContents(offers=self.offers[kept], counts=self.counts[kept])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beginnings:
    """Nodes with units of the first classes on them; `room` has the resources first."""

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
    """All full contents worth at least `least[offer]`, or nothing when they are too many."""
    hopes = _Hopes(table, values)
    order = np.argsort(-hopes.share, kind="stable")
    found = _Beginnings(
        offers=np.arange(table.offers),
        room=table.capacity.T.copy(),
        worth=np.zeros(table.offers),
        counts=np.zeros((table.offers, table.classes), dtype=np.int64),
    )
    later, most = hopes.later(order), budget.left / TICKS_EACH
    least = least - TOLERANCE * (1.0 + np.abs(least))
    for step, k in enumerate(order.tolist()):
        found = _with_units(table, found, k, worth=float(values.units[k]))
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
    """What more a node can be worth, by prices of its resources."""

    def __init__(self, table: Table, values: DualValues) -> None:
        self.prices = best_weights(table, values)
        excess = values.units[:, None] - table.size @ self.prices.T
        most = np.minimum(table.per_node, table.demand)
        self.excess = np.where(table.allowed, np.maximum(excess, 0.0), 0.0) * most[:, None]
        ceiling = np.maximum(table.capacity.max(axis=0, initial=1.0), 1.0)
        self.share = (table.size / ceiling).max(axis=1, initial=0.0)

    def later(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """For each step and offer, what units of all later classes add beyond their resources."""
        rest = np.cumsum(self.excess[order[::-1]], axis=0)[::-1]
        return np.vstack([rest, np.zeros(self.excess.shape[1])])


def _with_units(table: Table, found: _Beginnings, k: int, *, worth: float) -> _Beginnings:
    """Each beginning with any number of units of one more class."""
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
    """Whether not one unit more of any class has room."""
    ceiling = np.minimum(table.per_node, table.demand)
    full = np.ones(len(found.worth), dtype=np.bool_)
    for k in range(table.classes):
        more = (found.room + 0.5 > table.size[k][:, None]).all(axis=0)
        more &= table.allowed[k, found.offers] & (found.counts[:, k] < ceiling[k])
        if table.clashes is not None:
            more &= ~(found.counts[:, table.clashes[k]] > 0).any(axis=1)
        full &= ~more
    return full & found.counts.any(axis=1)
