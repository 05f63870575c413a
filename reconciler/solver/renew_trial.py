"""Nodes gone on trial: who is where then, what is bought for the rest, and what all that gains.

A node that goes hands its pods, and those that had come to it, to the places that are open, in a
fixed order in which those that are likeliest to stay come first; so pods seldom move twice while
the search goes on. What finds no room is loose until something is bought for it. A node that comes
back calls its own pods home. Trials are copied where they may have to be given up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.draft import Stock
from reconciler.solver.fill import divisors
from reconciler.solver.tail import pack_tail

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from reconciler.solver.budget import Budget
    from reconciler.solver.renew_field import Field
    from reconciler.solver.renew_relax import Leaning

NEW = 8
"""Rows that are added at once for what is bought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """In which order places are filled and classes placed; made once for a search."""

    field: Field
    row: NDArray[np.intp]
    """Where each node that may go stands among the places."""
    place: NDArray[np.intp]
    """Which place of the field each row is."""
    classes: list[int]
    """The largest units first: small ones find room later, too."""
    rank: NDArray[np.intp]
    sizes: NDArray[np.float64]


def ranks_of(field: Field, leaning: Leaning) -> Ranks:
    """Places that stay for sure, then nodes, the least wasteful first."""
    order = np.argsort(leaning.waste, kind="stable")
    place = np.concatenate([np.arange(field.first), field.first + order]).astype(np.intp)
    row = np.empty(len(order), dtype=np.intp)
    row[order] = field.first + np.arange(len(order))
    typical = np.maximum(np.median(field.goods.capacity, axis=0), 1.0) if field.goods.offers else 1
    size = (field.goods.size / typical).max(axis=1, initial=0.0)
    classes = np.argsort(-size, kind="stable")
    rank = np.empty(len(classes), dtype=np.intp)
    rank[classes] = np.arange(len(classes))
    return Ranks(
        field=field,
        row=row,
        place=place,
        classes=classes.tolist(),
        rank=rank,
        sizes=divisors(field.goods),
    )


@dataclass(slots=True)
class Trial:
    """One state of the search; rows are places in the order of the ranks, then what was bought."""

    ranks: Ranks
    free: NDArray[np.float64]
    came: NDArray[np.int32]
    """Units of each class that moved to each row."""
    admits: NDArray[np.bool_]
    is_open: NDArray[np.bool_]
    bought: NDArray[np.intp]
    """The offer of each row that was bought; -1 elsewhere."""
    gone: NDArray[np.bool_]
    loose: NDArray[np.int64]
    stock: Stock
    going: NDArray[np.int64]
    """How many have gone, by group."""
    gain: float = 0.0

    @classmethod
    def of(cls, ranks: Ranks) -> Trial:
        """Nothing gone."""
        field = ranks.field
        places = len(field.places)
        return cls(
            ranks=ranks,
            free=field.capacity[ranks.place],
            came=np.zeros((places, field.goods.classes), dtype=np.int32),
            admits=field.admits[ranks.place],
            is_open=np.ones(places, dtype=np.bool_),
            bought=np.full(places, -1, dtype=np.intp),
            gone=np.zeros(len(field.holds), dtype=np.bool_),
            loose=np.zeros(field.goods.classes, dtype=np.int64),
            stock=Stock.of(field.goods),
            going=np.zeros(len(field.most), dtype=np.int64),
        )

    def copy(self) -> Trial:
        """The same, to be changed on its own."""
        return replace(
            self,
            free=self.free.copy(),
            came=self.came.copy(),
            admits=self.admits.copy(),
            is_open=self.is_open.copy(),
            bought=self.bought.copy(),
            gone=self.gone.copy(),
            loose=self.loose.copy(),
            stock=Stock(self.stock.table, self.stock.copies.copy(), self.stock.limits.copy()),
            going=self.going.copy(),
        )

    @property
    def field(self) -> Field:
        """What all trials of a search share."""
        return self.ranks.field

    def may_go(self, i: int) -> bool:
        """Whether a node is still there and its group lets one more go."""
        group = self.field.group[i]
        return bool(not self.gone[i] and self.going[group] < self.field.most[group])

    def remove(self, nodes: Iterable[int]) -> None:
        """Let nodes go as far as their groups allow; their pods find other places or are loose."""
        units = np.zeros_like(self.loose)
        for i in nodes:
            if self.may_go(i):
                row = int(self.ranks.row[i])
                self.gone[i], self.is_open[row] = True, False
                self.going[self.field.group[i]] += 1
                self.gain += float(self.field.worth_going[i])
                units += self.field.holds[i] + self._cleared(row)
        self.place(units)

    def restore(self, i: int) -> None:
        """Take a node back, and its own pods home: first those that are worst off elsewhere."""
        self.gone[i] = False
        self.going[self.field.group[i]] -= 1
        self.gain -= float(self.field.worth_going[i])
        self.is_open[self.ranks.row[i]] = True
        for k in np.flatnonzero(self.field.holds[i]).tolist():
            self._call(k, int(self.field.holds[i, k]))

    def _call(self, k: int, wanted: int) -> None:
        """Take units of a class from where they are: the loose first, then the last rows."""
        loose = min(wanted, int(self.loose[k]))
        self.loose[k] -= loose
        wanted -= loose
        if not wanted:
            return
        rows = np.flatnonzero(self.came[:, k])[::-1]
        here = self.came[rows, k]
        taken = np.clip(wanted - (np.cumsum(here) - here), 0, here)
        self.came[rows, k] -= taken.astype(np.int32)
        self.free[rows] += taken[:, None] * self.field.goods.size[k]

    def place(self, units: NDArray[np.int64]) -> None:
        """Find room for so many units of each class, in what is open; the rest is loose."""
        present = np.flatnonzero(units)
        for k in present[np.argsort(self.ranks.rank[present])].tolist():
            self.loose[k] += int(units[k]) - self._deal(k, int(units[k]))

    def _deal(self, k: int, wanted: int) -> int:
        rows = np.flatnonzero(self.is_open & self.admits[:, k])
        if not len(rows):
            return 0
        goods = self.field.goods
        room = np.floor(((self.free[rows] + 0.5) / self.ranks.sizes[k]).min(axis=1))
        room = np.clip(np.minimum(room, goods.per_node[k] - self.came[rows, k]), 0, wanted)
        if goods.clashes is not None and goods.clashes[k].any():
            others = self.came[np.ix_(rows, np.flatnonzero(goods.clashes[k]))]
            room = np.where((others > 0).any(axis=1), 0, room)
        dealt = np.clip(wanted - (np.cumsum(room) - room), 0, room).astype(np.int32)
        used = dealt > 0
        self.came[rows[used], k] += dealt[used]
        self.free[rows[used]] -= dealt[used, None] * goods.size[k]
        return int(dealt.sum())

    def _cleared(self, row: int) -> NDArray[np.int64]:
        """All that came to a row, taken from it."""
        units: NDArray[np.int64] = self.came[row].astype(np.int64)
        self.free[row] += units @ self.field.goods.size
        self.came[row] = 0
        return units

    def open(self, o: int, units: NDArray[np.int64]) -> None:
        """Buy a node of an offer, for units that aren't counted elsewhere."""
        goods = self.field.goods
        closed = np.flatnonzero(~self.is_open & (self.bought == -2))
        if not len(closed):
            self._lengthen()
            closed = np.flatnonzero(self.bought == -2)
        row = int(closed[0])
        self.is_open[row], self.bought[row] = True, o
        self.came[row] = units
        self.free[row] = goods.capacity[o] - units @ goods.size
        self.admits[row] = goods.allowed[:, o]
        self.stock.take(o, 1)
        self.gain -= float(goods.price[o])

    def close(self, row: int) -> None:
        """Give back what was bought; what came to it is loose."""
        o = int(self.bought[row])
        self.loose += self._cleared(row)
        self.is_open[row], self.bought[row] = False, -2
        self.stock.take(o, -1)
        self.gain += float(self.field.goods.price[o])

    def new_rows(self) -> list[int]:
        """The rows that were bought."""
        return np.flatnonzero(self.bought >= 0).tolist()

    def _lengthen(self) -> None:
        classes, resources = self.came.shape[1], self.free.shape[1]
        self.free = np.concatenate([self.free, np.zeros((NEW, resources))])
        self.came = np.concatenate([self.came, np.zeros((NEW, classes), dtype=np.int32)])
        self.admits = np.concatenate([self.admits, np.zeros((NEW, classes), dtype=np.bool_)])
        self.is_open = np.concatenate([self.is_open, np.zeros(NEW, dtype=np.bool_)])
        self.bought = np.concatenate([self.bought, np.full(NEW, -2, dtype=np.intp)])

    def settle(self, leaning: Leaning, budget: Budget) -> bool:
        """Give all that is loose a place, buying where there is none; says whether all have one."""
        loose = self.loose.copy()
        self.loose[:] = 0
        self.place(loose)
        self._shrink()
        if self.loose.any():
            goods = self.field.goods
            stock = Stock(goods, self.stock.copies.copy(), self.stock.limits.copy())
            draft = pack_tail(
                goods, leaning.values, stock=stock, left=self.loose, budget=budget
            ).singles()
            for o, units in zip(draft.offers.tolist(), draft.counts, strict=True):
                self.open(o, units)
            self._shrink()
        return not self.loose.any()

    def _shrink(self) -> None:
        """Each node that was bought as the cheapest that holds what came to it, if anything did."""
        goods = self.field.goods
        for row in self.new_rows():
            o, units = int(self.bought[row]), self.came[row].astype(np.int64)
            if not units.any():
                self.close(row)
                continue
            fits = (goods.capacity >= units @ goods.size).all(axis=1)
            fits &= (goods.price < goods.price[o]) & goods.allowed[units > 0].all(axis=0)
            if not fits.any():
                continue
            self.stock.take(o, -1)
            fits &= self.stock.available()
            self.stock.take(o, 1)
            if fits.any():
                self.close(row)
                self.loose -= units
                self.open(int(np.where(fits, goods.price, np.inf).argmin()), units)
