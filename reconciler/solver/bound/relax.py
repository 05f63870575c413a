"""The whole problem as one linear program: how many nodes of each offer, with which pods.

Fractions are allowed, and all nodes of one offer are one large node. The solution isn't a plan, but
it shows what a good plan looks like, and its prices give the first bound. At first it has only the
offers that are the cheapest for some class; others join when the prices show that they would pay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.cluster import clustered, clusters
from reconciler.solver.arrays.table import room_alone
from reconciler.solver.bound.bound import DualValues
from reconciler.solver.bound.offer_program import (
    MANY,
    OfferProgram,
    cheapest_offers,
    worth_joining,
)
from reconciler.solver.model.dimensions import ENDLESS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.budget import Budget

FEWER = 1e-7
"""Added to the cost of a node, in typical prices, so that fewer nodes win a tie."""
ROUNDS = 4
JOINING = 32
AT_ONCE = 6
"""Units that join on each node that exists, before the program is solved again."""
PAYS = 1e-7
"""A smaller gain, in typical prices, is a rounding error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """The nodes of each offer and the units of each class on it, as fractions; and the prices."""

    nodes: NDArray[np.float64]
    units: NDArray[np.float64]
    values: DualValues
    offers: NDArray[np.intp]
    """The offers in the program; `paid` has the resource prices of each."""
    paid: NDArray[np.float64]


class _Program(OfferProgram):
    """The linear program, with minima, and with limits for the pods of one node."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, table.capacity)
        self.minima = [self.program.at_least(float(n)) for n in table.minima]
        self.nodes: dict[int, int] = {}
        self.room = room_alone(replace(table, per_node=np.full(table.classes, np.inf)))
        self.units: dict[int, list[tuple[int, int]]] = {}
        self.missing = np.zeros((table.classes, table.offers), dtype=np.bool_)
        """Pairs of a class and a node that exists which could join, but haven't yet."""
        self.leave_out(penalty / self.scale for penalty in penalties(table))
        # As in the master, minima may be missed at a high cost, too.
        for row in self.minima:
            self.program.column(10.0, [(row, 1.0)])

    def join(self, o: int) -> None:
        """Add an offer: with all of its units, or if it exists, without."""
        counting = zip(self.minima, self.table.minimum_of[:, o], strict=True)
        self.nodes[o] = self.offer(o, extra=FEWER, entries=[(row, 1.0) for row, m in counting if m])
        self.units[o] = []
        if self.table.standing[o]:
            self.missing[:, o] = self.table.allowed[:, o]
        else:
            for k in np.flatnonzero(self.table.allowed[:, o]).tolist():
                self._add(k, o)

    def sift(self) -> bool:
        """Add the units that would pay most on each node that exists; False if there are none.

        With all of their units, hundreds of nodes make the program ten times as slow, and only a
        few units are in use on each of them.
        """
        offers = np.flatnonzero(self.missing.any(axis=0))
        if not len(offers):
            return False
        prices = self.prices()
        known = sorted(self.rows)
        paid = self.paid(prices)[np.searchsorted(known, offers)]
        gain = prices[self.demand][:, None] - self.table.size @ paid.T
        gain = np.where(self.missing[:, offers], gain / self.scale, 0.0)
        chosen = np.argsort(-gain, axis=0, kind="stable")[:AT_ONCE]
        pays = np.take_along_axis(gain, chosen, axis=0) > PAYS
        for place, column in np.argwhere(pays).tolist():
            self._add(int(chosen[place, column]), int(offers[column]))
        return bool(pays.any())

    def _add(self, k: int, o: int) -> None:
        self.units[o].append((k, self._unit(k, o)))
        self.missing[k, o] = False

    def _unit(self, k: int, o: int) -> int:
        table, entries = self.table, []
        # A limit per node needs a row only if neither the demand nor the resources imply it. Rows
        # for all pairs of class and offer would make the program many times larger.
        if table.per_node[k] < min(table.demand[k], self.room[k, o] + 1):
            row = self.program.at_most(0.0)
            entries.append((row, 1.0))
            self.program.enter(row, self.nodes[o], -float(table.per_node[k]))
        return self.unit(k, self.rows[o], entries=entries)

    def values(self) -> DualValues:
        """The values and prices of the last solution."""
        prices = self.prices()
        return DualValues(
            units=np.maximum(prices[self.demand], 0.0),
            limits=np.maximum(-prices[self.limits], 0.0),
            minima=np.maximum(prices[self.minima], 0.0),
            resources=_different(self.paid(prices)),
        )

    def answer(self) -> Relaxation:
        """The last solution as arrays over all offers."""
        found = self.program.values()
        nodes = np.zeros(self.table.offers)
        units = np.zeros((self.table.classes, self.table.offers))
        for o, column in self.nodes.items():
            nodes[o] = found[column]
            for k, unit in self.units[o]:
                units[k, o] = found[unit]
        return Relaxation(
            nodes=nodes,
            units=units,
            values=self.values(),
            offers=np.array(sorted(self.rows), dtype=np.intp),
            paid=self.paid(self.prices()),
        )


def _different(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows without duplicates and rows of zeros; their order doesn't matter."""
    alive = rows[rows.any(axis=1)]
    return np.unique(alive, axis=0) if len(alive) else np.zeros((1, rows.shape[1]))


def penalties(table: Table) -> NDArray[np.float64]:
    """The cost of an unplaced unit: more than any node, and ten times as much per priority."""
    base = 4.0 * float(table.price.max(initial=1.0)) + 1.0
    # A linear program has about 15 digits. More than six powers of ten would drown the prices.
    steps = np.unique(table.priority, return_inverse=True)[1].reshape(-1)
    return base * 10.0 ** np.minimum(steps, 6)


def relax(table: Table, budget: Budget) -> Relaxation | None:
    """The relaxation of a table, with clusters if it has too many classes."""
    if table.classes <= MANY:
        return _relax(table, budget)
    numbers = clusters(table)
    answer = _relax(clustered(table, numbers), budget)
    return None if answer is None else _spread_out(table, numbers, answer)


def _spread_out(table: Table, numbers: NDArray[np.intp], answer: Relaxation) -> Relaxation:
    """The solution for clusters, divided among their classes by demand."""
    total = np.bincount(numbers, weights=table.demand)
    share = table.demand / np.maximum(total[numbers], 1.0)
    units = answer.units[numbers] * share[:, None]
    # A class gets no value from the program. It is worth what its resources cost where they are
    # cheapest.
    paid = table.size @ answer.paid.T
    worth = np.where(table.allowed[:, answer.offers], paid, np.inf).min(axis=1)
    # It is infinite if the class may use none of the offers in the program.
    worth = np.minimum(worth, penalties(table))
    values = replace(answer.values, units=worth)
    return replace(answer, units=units, values=values)


def _relax(table: Table, budget: Budget) -> Relaxation | None:
    """Solve the relaxation, and add offers until no other would pay."""
    program = _Program(table)
    # Nodes that exist come later: at first each of them would pay, and hold what is cheap to buy.
    for group in (_first_offers(table), np.flatnonzero(table.standing & (table.most > 0))):
        for o in group.tolist():
            program.join(o)
        if not _solved(program, budget):
            return None
    return program.answer()


def _solved(program: _Program, budget: Budget) -> bool:
    """Add units and offers until no other would pay; returns whether there is a solution."""
    for turn in range(ROUNDS + 1):
        while program.program.solve() is not None:
            budget.spend(program.program.ticks)
            if not program.sift():
                break
        else:
            return False
        # The offers that joined last must be part of the answer.
        if turn == ROUNDS:
            break
        joining = worth_joining(program.table, program.values(), program.nodes, most=JOINING)
        if not len(joining):
            break
        for o in joining.tolist():
            program.join(o)
    return True


def _first_offers(table: Table) -> NDArray[np.intp]:
    """The cheapest offer for each class by its scarcest resource, and all limited offers."""
    # Limited offers are few: they are in the program from the start.
    few = (table.most < ENDLESS) | table.minimum_of.any(axis=0)
    chosen = cheapest_offers(table).union(np.flatnonzero(few).tolist())
    return np.array([o for o in sorted(chosen) if _can_be_bought(table, o)], dtype=np.intp)


def _can_be_bought(table: Table, o: int) -> bool:
    return not table.standing[o] and table.most[o] > 0
