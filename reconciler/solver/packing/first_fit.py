"""First-fit, as other autoscalers do it: the baseline, and the answer when everything else fails.

Pods are taken from the largest to the smallest, and go to the node with the fewest pods that has
room. An open node is still any of the offers that can hold what is on it. It is filled until even
the largest of them is full, and only then becomes the cheapest one that fits. All units of a class
are placed at once, with the same result as one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from reconciler.solver.arrays.draft import Draft, Stock, draft_of, joined_drafts
from reconciler.solver.arrays.fill import divisors
from reconciler.solver.arrays.reduce import allowed_within
from reconciler.solver.bound.bound import DualValues
from reconciler.solver.model.dimensions import ENDLESS
from reconciler.solver.packing.tail import pack_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.budget import Budget


Number = TypeVar("Number", bound=np.generic)


def first_fit(table: Table, budget: Budget) -> Draft:
    """A complete draft without an optimiser; what exceeds the limits is packed once more."""
    nodes = _OpenNodes(table)
    by_importance = np.argsort(-table.priority, kind="stable")
    for k in by_importance.tolist():
        nodes.take(k, int(table.demand[k]))
        budget.spend(25 + nodes.open * len(nodes.giants) * 0.02)
    stock = Stock.of(table)
    closed = _closed(table, nodes.counts, stock)
    left = table.demand - closed.placed()
    rest = pack_tail(table, _no_values(table), stock=stock, left=left, budget=budget)
    return joined_drafts([closed, rest])


class _OpenNodes:
    """Nodes whose offer isn't decided yet."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.sizes = divisors(table)
        there = np.repeat(np.arange(table.offers), np.where(table.standing, table.most_there, 0))
        self.giants = np.unique(np.concatenate([_giants(table), there])).astype(np.intp)
        self.fresh = ~table.standing[self.giants]
        self.open = len(there)
        self._used = np.zeros((len(there), table.size.shape[1]))
        self._options = self.giants[None, :] == there[:, None]
        self._counts = np.zeros((len(there), table.classes), dtype=np.int32)
        self._load = np.zeros(len(there), dtype=np.int64)

    @property
    def used(self) -> NDArray[np.float64]:
        """The resources used on each open node."""
        return self._used[: self.open]

    @property
    def options(self) -> NDArray[np.bool_]:
        """The offers that can still hold what is on each open node."""
        return np.asarray(self._options[: self.open])

    @property
    def counts(self) -> NDArray[np.int32]:
        """The units of each class on each open node."""
        return self._counts[: self.open]

    def take(self, k: int, wanted: int) -> None:
        """Place units of a class: on open nodes, the emptiest first, then on new ones."""
        room = self._room(k)
        dealt = _level(self._load[: self.open], room, wanted)
        self._add(np.flatnonzero(dealt), k, dealt[dealt > 0])
        wanted -= int(dealt.sum())
        # What is left needs new nodes. They are equal, and all but the last one are full.
        fresh = np.flatnonzero(self.fresh & self.table.allowed[k, self.giants])
        if not wanted or not len(fresh):
            return
        held = np.floor((self.table.capacity[self.giants[fresh]] + 0.5) / self.sizes[k])
        each = int(min(held.min(axis=1).max(), self.table.per_node[k], wanted))
        full, rest = divmod(wanted, each)
        self._open(full + (rest > 0))
        news = np.arange(self.open - full - (rest > 0), self.open)
        self._add(news, k, np.array([each] * full + [rest] * (rest > 0), dtype=np.int64))

    def _room(self, k: int) -> NDArray[np.int64]:
        """How many more units of a class each open node can take as the largest of its offers."""
        usable = np.flatnonzero(self.table.allowed[k, self.giants])
        held = np.full((self.open, len(usable)), np.inf)
        for r, size in enumerate(self.sizes[k]):
            capacity = self.table.capacity[self.giants[usable], r]
            held = np.minimum(held, (capacity[None, :] - self.used[:, [r]] + 0.5) / size)
        held = np.where(self.options[:, usable], np.floor(held), 0.0)
        best = np.minimum(held.max(axis=1, initial=0.0), self.table.per_node[k])
        if self.table.clashes is not None:
            best[(self.counts[:, self.table.clashes[k]] > 0).any(axis=1)] = 0
        return np.asarray(np.maximum(best, 0), dtype=np.int64)

    def _open(self, number: int) -> None:
        """Open more nodes; the arrays grow by half, because each growth copies them."""
        needed = self.open + number
        if needed > len(self._used):
            more = needed + needed // 2 - len(self._used)
            self._used = _longer(self._used, more)
            self._options = _longer(self._options, more)
            self._counts = _longer(self._counts, more)
            self._load = np.concatenate([self._load, np.zeros(more, dtype=np.int64)])
        self._options[self.open : needed] = self.fresh
        self.open = needed

    def _add(self, nodes: NDArray[np.intp], k: int, dealt: NDArray[np.int64]) -> None:
        self.used[nodes] += dealt[:, None] * self.table.size[k]
        self.counts[nodes, k] += dealt
        self._load[nodes] += dealt
        capacity = self.table.capacity[self.giants]
        self.options[nodes] &= self.table.allowed[k, self.giants][None, :]
        for r in range(capacity.shape[1]):
            self.options[nodes] &= self.used[nodes, r][:, None] <= capacity[None, :, r]


def _longer(rows: NDArray[Number], more: int) -> NDArray[Number]:
    return np.concatenate([rows, np.zeros((more, rows.shape[1]), dtype=rows.dtype)])


def _giants(table: Table) -> NDArray[np.intp]:
    """The offers that aren't contained in a larger unlimited one: they decide what has room."""
    fresh = np.flatnonzero(~table.standing)
    endless = table.most[fresh] >= ENDLESS
    capacity = table.capacity[fresh]
    contains = allowed_within(table.allowed[:, fresh])
    # Of two equal offers the first one contains the other, so that exactly one of them is kept.
    kept = []
    for place in range(len(fresh)):
        larger = (capacity >= capacity[place]).all(axis=1) & endless
        larger &= (capacity > capacity[place]).any(axis=1) | (np.arange(len(fresh)) < place)
        if not (larger & contains[place]).any():
            kept.append(place)
    return fresh[kept]


def _level(load: NDArray[np.int64], room: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """The units for each node if each unit goes to the node with the fewest that has room."""
    if wanted == 1 and room.any():
        dealt = np.zeros_like(room)
        dealt[np.where(room > 0, load, load.max() + 1).argmin()] = 1
        return dealt
    # Filling up to a common level, found by bisection, has the same result as unit after unit.
    wanted = min(wanted, int(room.sum()))
    low, high = int(load.min(initial=0)), int((load + room).max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        fits = int(np.clip(middle - load, 0, room).sum()) <= wanted
        low, high = (middle, high) if fits else (low, middle - 1)
    dealt = np.clip(low - load, 0, room)
    more = np.flatnonzero((room > dealt) & (load + dealt <= low))[: wanted - int(dealt.sum())]
    dealt[more] += 1
    return np.asarray(dealt)


def _closed(table: Table, contents: NDArray[np.int32], stock: Stock) -> Draft:
    """Each node as the cheapest available offer that holds it; nodes without one are dropped."""
    rows: list[tuple[int, NDArray[np.int64], int]] = []
    forbidden = ~table.allowed
    for counts in contents:
        if not counts.any():
            continue
        fits = (table.capacity >= counts @ table.size).all(axis=1) & stock.available()
        fits &= ~forbidden[counts > 0].any(axis=0)
        if fits.any():
            o = int(np.where(fits, table.price, np.inf).argmin())
            stock.take(o, 1)
            rows.append((o, counts, 1))
    return draft_of(table, rows)


def _no_values(table: Table) -> DualValues:
    return DualValues(
        units=np.zeros(table.classes),
        limits=np.zeros(len(table.limits)),
        minima=np.zeros(len(table.minima)),
        resources=np.zeros((1, table.size.shape[1])),
    )
