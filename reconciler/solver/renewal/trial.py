"""A trial: some nodes are removed, their pods are elsewhere, and something may be bought.

The pods of a removed node, and those that had moved to it, go to other open places. Each pod goes
where the ratio of free resources is most like its own, because CPU without memory, or memory
without CPU, is room that no pod can use. A pod without room is loose until a node is bought for it.
When a node is restored, its own pods return to it. The search copies a trial before a change that
it may have to undo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Stock
from reconciler.solver.arrays.fill import divisors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from reconciler.solver.renewal.field import Field

TINY = 1e-12
THERE = -1
"""In `bought`, marks the column of an existing place."""
SPARE = -2
"""In `bought`, marks an unused column, for a later purchase."""
MORE = 8
"""The number of columns that are added at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Figures that all trials of a search share."""

    field: Field
    largest_first: NDArray[np.intp]
    """The order in which classes are placed: small ones still find room at the end."""
    held: tuple[tuple[tuple[int, int], ...], ...]
    """The classes of each node's own pods, and their numbers."""
    used: NDArray[np.float64]
    """The resources that these pods use, by resource and node."""
    clashing: tuple[NDArray[np.intp], ...]
    """For each class, the classes that may not share a node with it."""
    sizes: NDArray[np.float64]
    """Divisors for `room`, by class and resource."""
    shapes: NDArray[np.float64]
    weights: NDArray[np.float64]


def measures_of(field: Field) -> Measures:
    """The figures of a field; sizes are shares of a typical place."""
    weights = 1.0 / np.maximum(np.median(field.capacity, axis=0), 1.0)
    shapes = field.goods.size * weights
    clashes = field.goods.clashes
    return Measures(
        field=field,
        largest_first=np.argsort(-shapes.max(axis=1, initial=0.0), kind="stable"),
        held=tuple(
            tuple((k, units) for k, units in enumerate(node) if units)
            for node in field.holds.tolist()
        ),
        used=(field.holds @ field.goods.size).T,
        clashing=() if clashes is None else tuple(row.nonzero()[0] for row in clashes),
        sizes=divisors(field.goods)[:, :, None],
        shapes=shapes,
        weights=weights[:, None],
    )


@dataclass(slots=True)
class RenewalTrial:
    """One state of the search; columns are the places of the field, followed by purchases."""

    measures: Measures
    free: NDArray[np.float64]
    """Free room by resource and column; in this order because numpy is slow along short rows."""
    came: NDArray[np.int32]
    """The units of each class that moved to each column."""
    admits: NDArray[np.bool_]
    is_open: NDArray[np.bool_]
    bought: NDArray[np.intp]
    """The offer of each purchase, or `THERE` or `SPARE`."""
    gone: NDArray[np.bool_]
    loose: NDArray[np.int64]
    stock: Stock
    going: NDArray[np.int64]
    """The number of removed nodes of each group."""
    gain: float = 0.0

    @classmethod
    def of(cls, measures: Measures) -> RenewalTrial:
        """A trial in which no node is removed."""
        field = measures.field
        places, classes = len(field.places), field.goods.classes
        return cls(
            measures=measures,
            # A copy is needed whatever the order: `ascontiguousarray` returns a transposed array
            # itself if it lies right already, and a trial then changed the room that the next one
            # began with.
            free=field.capacity.T.copy(order="C"),
            came=np.zeros((classes, places), dtype=np.int32),
            admits=field.admits.T.copy(order="C"),
            is_open=np.ones(places, dtype=np.bool_),
            bought=np.full(places, THERE, dtype=np.intp),
            gone=np.zeros(len(field.holds), dtype=np.bool_),
            loose=np.zeros(classes, dtype=np.int64),
            stock=Stock.of(field.goods),
            going=np.zeros(len(field.most), dtype=np.int64),
        )

    def copy(self) -> RenewalTrial:
        """An independent copy."""
        return RenewalTrial(
            measures=self.measures,
            free=self.free.copy(),
            came=self.came.copy(),
            admits=self.admits.copy(),
            is_open=self.is_open.copy(),
            bought=self.bought.copy(),
            gone=self.gone.copy(),
            loose=self.loose.copy(),
            stock=Stock(self.stock.table, self.stock.copies.copy(), self.stock.limits.copy()),
            going=self.going.copy(),
            gain=self.gain,
        )

    @property
    def field(self) -> Field:
        """The field of this trial."""
        return self.measures.field

    def may_go(self, i: int) -> bool:
        """Whether a node is still there and its group allows one more removal."""
        group = self.field.group[i]
        return bool(not self.gone[i] and self.going[group] < self.field.most[group])

    def remove(self, nodes: Iterable[int]) -> None:
        """Remove nodes as far as their groups allow; their pods move or are loose."""
        units = np.zeros_like(self.loose)
        for i in nodes:
            if self.may_go(i):
                units += self.take_out(i)
        self.place(units)

    def take_out(self, i: int) -> NDArray[np.int64]:
        """Remove a node; returns its own pods and those that had moved there."""
        own = self.field.first + i
        self.gone[i], self.is_open[own] = True, False
        self.going[self.field.group[i]] += 1
        self.gain += float(self.field.worth_going[i])
        # The node's column keeps its free room, which is closed until the node is restored.
        return np.asarray(self.field.holds[i] + self.cleared(own))

    def restore(self, i: int) -> None:
        """Restore a node; its own pods return to it."""
        self.gone[i], self.is_open[self.field.first + i] = False, True
        self.going[self.field.group[i]] -= 1
        self.gain -= float(self.field.worth_going[i])
        for k, units in self.measures.held[i]:
            self._call(k, units)

    def _call(self, k: int, wanted: int) -> None:
        """Take units of a class from where they are: loose ones first, then the last columns."""
        # Purchases are the last columns, so they are emptied first and can then be undone.
        loose = min(wanted, int(self.loose[k]))
        self.loose[k] -= loose
        wanted -= loose
        if not wanted:
            return
        came = self.came[k]
        for column in reversed(came.nonzero()[0].tolist()):
            times = min(wanted, int(came[column]))
            self._give(column, k, -times)
            wanted -= times
            if not wanted:
                return

    def place(self, units: NDArray[np.int64]) -> None:
        """Find room in open places for these units of each class; the rest is loose."""
        for k in self.in_order(units):
            self.loose[k] += int(units[k]) - self.deal(k, int(units[k]))

    def place_loose(self) -> None:
        """Try again to find room for all loose units."""
        loose = self.loose.copy()
        self.loose[:] = 0
        self.place(loose)

    def in_order(self, units: NDArray[np.int64]) -> list[int]:
        """The classes with units, in the order in which they are placed."""
        largest_first = self.measures.largest_first
        order: list[int] = largest_first[units[largest_first].nonzero()].tolist()
        return order

    def room(self, k: int) -> NDArray[np.float64]:
        """How many units of a class each column can still take."""
        measures = self.measures
        # As in `fill`: amounts are integers, so half a unit more changes no rounded quotient.
        room = np.floor(((self.free + 0.5) / measures.sizes[k]).min(axis=0))
        room = np.minimum(room, measures.field.goods.per_node[k] - self.came[k])
        room *= self.is_open & self.admits[k]
        if measures.clashing and len(measures.clashing[k]):
            room[self.came[measures.clashing[k]].any(axis=0)] = 0
        return np.asarray(np.maximum(room, 0.0))

    def deal(self, k: int, wanted: int) -> int:
        """Place units of a class where the free room is most like them; returns how many."""
        room = self.room(k)
        left = wanted
        for column in self._most_alike(k, room.nonzero()[0], wanted):
            times = min(left, int(room[column]))
            self._give(column, k, times)
            left -= times
            if not left:
                break
        return wanted - left

    def _most_alike(self, k: int, columns: NDArray[np.intp], wanted: int) -> list[int]:
        """The columns in order of similarity to a class; for one unit, only the first."""
        if len(columns) > 1:
            free = self.free[:, columns] * self.measures.weights
            # The cosine of the angle between the request and the free room.
            likeness = self.measures.shapes[k] @ free / np.sqrt((free * free).sum(axis=0) + TINY)
            if wanted == 1:
                return [int(columns[likeness.argmax()])]
            columns = columns[(-likeness).argsort(kind="stable")]
        ordered: list[int] = columns.tolist()
        return ordered

    def _give(self, column: int, k: int, times: int) -> None:
        """Add units to a column; a negative number takes them away."""
        self.came[k, column] += times
        self.free[:, column] -= times * self.field.goods.size[k]

    def cleared(self, column: int) -> NDArray[np.int64]:
        """Take out all units that moved to a column, and return them."""
        units: NDArray[np.int64] = self.came[:, column].astype(np.int64)
        self.free[:, column] += units @ self.field.goods.size
        self.came[:, column] = 0
        return units

    def buy(self, o: int, units: NDArray[np.int64]) -> None:
        """Buy a node of an offer, with units that aren't counted elsewhere."""
        goods = self.field.goods
        # Columns are reused and added in groups, because each growth copies all arrays.
        spare = (self.bought == SPARE).nonzero()[0]
        if not len(spare):
            self._widen()
            spare = (self.bought == SPARE).nonzero()[0]
        column = int(spare[0])
        self.is_open[column], self.bought[column] = True, o
        self.came[:, column] = units
        self.free[:, column] = goods.capacity[o] - units @ goods.size
        self.admits[:, column] = goods.allowed[:, o]
        self.stock.take(o, 1)
        self.gain -= float(goods.price[o])

    def give_back(self, column: int) -> NDArray[np.int64]:
        """Undo a purchase; returns the units that were on it, which the caller must place."""
        o = int(self.bought[column])
        units = self.cleared(column)
        self.is_open[column], self.bought[column] = False, SPARE
        self.stock.take(o, -1)
        self.gain += float(self.field.goods.price[o])
        return units

    def purchases(self) -> list[int]:
        """The columns that were bought."""
        columns: list[int] = (self.bought >= 0).nonzero()[0].tolist()
        return columns

    def _widen(self) -> None:
        def wider(array: NDArray[np.generic], fill: int) -> NDArray[np.generic]:
            more = np.full((*array.shape[:-1], MORE), fill, dtype=array.dtype)
            return np.concatenate([array, more], axis=-1)

        for name, fill in _COLUMNS.items():
            setattr(self, name, wider(getattr(self, name), fill))


_COLUMNS = {"free": 0, "came": 0, "admits": False, "is_open": False, "bought": SPARE}
"""The arrays with an entry for each column, and the entry of a spare column."""
