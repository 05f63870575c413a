"""The whole problem as one linear program: how many nodes of each offer, which pods on them.

Fractions are allowed, nodes of one offer are one big node. The answer is far from a plan but says
what a good plan looks like, and its prices give the first lower bound. Only offers that are the
cheapest for some class take part at first; others join when the prices say that they would pay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.cluster import clustered, clusters
from reconciler.solver.arrays.table import room_alone
from reconciler.solver.bound.bound import DualValues, most_value, node_cost
from reconciler.solver.bound.linear import LinearProgram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.budget import Budget

FEWER = 1e-7
"""What a node costs beyond its price, in shares of the dearest one: on a tie, fewer nodes."""
MANY = 240
"""More classes than this are relaxed by clusters."""
ROUNDS = 4
JOINING = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """Nodes of each offer and units of each class per offer, in fractions; and the prices."""

    nodes: NDArray[np.float64]
    units: NDArray[np.float64]
    values: DualValues
    offers: NDArray[np.intp]
    """The offers that took part, and in `paid` what the resources of each cost."""
    paid: NDArray[np.float64]


class _Program:
    """The linear program while offers join it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.scale = typical_price(table)
        self.weights = 1.0 / np.maximum(table.capacity.max(axis=0, initial=1.0), 1.0)
        self.program = LinearProgram()
        self.demand = [self.program.at_least(float(n)) for n in table.demand]
        self.limits = [self.program.at_most(float(n)) for n in table.limits]
        self.minima = [self.program.at_least(float(n)) for n in table.minima]
        self.nodes: dict[int, int] = {}
        self.room = room_alone(replace(table, per_node=np.full(table.classes, np.inf)))
        self.rows: dict[int, list[int]] = {}
        self.units: dict[int, list[tuple[int, int]]] = {}
        for k, penalty in enumerate(penalties(table)):
            self.program.column(penalty / self.scale, [(self.demand[k], 1.0)])
        for row in self.minima:
            self.program.column(10.0, [(row, 1.0)])

    def join(self, o: int) -> None:
        """Let an offer take part."""
        table, program = self.table, self.program
        rows = [program.at_most(0.0) for _ in range(table.size.shape[1])]
        capacity = table.capacity[o] * self.weights
        entries = [(row, -float(c)) for row, c in zip(rows, capacity, strict=True)]
        entries += [
            (row, float(a)) for row, a in zip(self.limits, table.amounts[:, o], strict=True) if a
        ]
        entries += [
            (row, 1.0) for row, m in zip(self.minima, table.minimum_of[:, o], strict=True) if m
        ]
        most = float(table.most[o]) if table.most[o] < 2**40 else None
        self.rows[o] = rows
        self.nodes[o] = program.column(table.price[o] / self.scale + FEWER, entries, most)
        self.units[o] = [
            (k, self._unit(k, o)) for k in np.flatnonzero(table.allowed[:, o]).tolist()
        ]

    def _unit(self, k: int, o: int) -> int:
        table = self.table
        sizes = (table.size[k] * self.weights).tolist()
        entries = [(row, s) for row, s in zip(self.rows[o], sizes, strict=True) if s]
        if table.per_node[k] < min(table.demand[k], self.room[k, o] + 1):
            row = self.program.at_most(0.0)
            entries.append((row, 1.0))
            self.program.enter(row, self.nodes[o], -float(table.per_node[k]))
        return self.program.column(0.0, [(self.demand[k], 1.0), *entries])

    def values(self) -> DualValues:
        """What the last solve says about values and prices."""
        duals = self.program.duals() * self.scale
        resources = self.paid(duals)
        return DualValues(
            units=np.maximum(duals[self.demand], 0.0),
            limits=np.maximum(-duals[self.limits], 0.0),
            minima=np.maximum(duals[self.minima], 0.0),
            resources=_different(resources),
        )

    def paid(self, duals: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the resources of each offer that takes part cost, in the order of the offers."""
        prices = -duals[[row for o in sorted(self.rows) for row in self.rows[o]]]
        shaped = prices.reshape(-1, self.table.size.shape[1])
        return np.asarray(np.maximum(shaped * self.weights, 0.0))

    def answer(self) -> Relaxation:
        """The last solve in arrays over all offers."""
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
            paid=self.paid(self.program.duals() * self.scale),
        )


def _different(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without rows of zeros and doubles; the order doesn't matter to who uses them."""
    alive = rows[rows.any(axis=1)]
    return np.unique(alive, axis=0) if len(alive) else np.zeros((1, rows.shape[1]))


def typical_price(table: Table) -> float:
    """What a node costs, roughly: money in the programs is counted in this, to be near one."""
    paid = table.price[table.price > 0]
    return float(np.median(paid)) if len(paid) else 1.0


def penalties(table: Table) -> NDArray[np.float64]:
    """What leaving out a unit costs: more than any node, and ten times that per priority step."""
    base = 4.0 * float(table.price.max(initial=1.0)) + 1.0
    steps = np.unique(table.priority, return_inverse=True)[1].reshape(-1)
    return base * 10.0 ** np.minimum(steps, 6)


def relax(table: Table, budget: Budget) -> Relaxation | None:
    """The relaxation of a table, by clusters where its classes are too many."""
    if table.classes <= MANY:
        return _relax(table, budget)
    numbers = clusters(table)
    answer = _relax(clustered(table, numbers), budget)
    return None if answer is None else _spread_out(table, numbers, answer)


def _spread_out(table: Table, numbers: NDArray[np.intp], answer: Relaxation) -> Relaxation:
    """What clusters got, to their classes by number; a class is worth its cheapest resources."""
    total = np.bincount(numbers, weights=table.demand)
    share = table.demand / np.maximum(total[numbers], 1.0)
    units = answer.units[numbers] * share[:, None]
    # A unit is worth what its resources cost on the offer where they are cheapest.
    paid = table.size @ answer.paid.T
    worth = np.where(table.allowed[:, answer.offers], paid, np.inf).min(axis=1)
    worth = np.minimum(worth, penalties(table))
    values = replace(answer.values, units=worth)
    return replace(answer, units=units, values=values)


def _relax(table: Table, budget: Budget) -> Relaxation | None:
    """Solve the relaxation, letting offers join until no other would pay."""
    program = _Program(table)
    for o in _first_offers(table):
        program.join(int(o))
    for _ in range(ROUNDS):
        if program.program.solve() is None:
            return None
        budget.spend(program.program.ticks)
        joining = _worth_joining(table, program)
        if not len(joining):
            break
        for o in joining:
            program.join(int(o))
    else:
        program.program.solve()
        budget.spend(program.program.ticks)
    return program.answer()


def _first_offers(table: Table) -> NDArray[np.intp]:
    """The cheapest offer for each class by its fullest resource, and all that are limited."""
    chosen = set(
        np.flatnonzero(
            (table.most < 2**40) | table.standing | table.minimum_of.any(axis=0)
        ).tolist()
    )
    capacity = np.maximum(table.capacity, 1e-9)
    for k in range(table.classes):
        share = (table.size[k][None, :] / capacity).max(axis=1) * table.price
        share = np.where(table.allowed[k], share, np.inf)
        if np.isfinite(share).any():
            chosen.add(int(share.argmin()))
    return np.array(sorted(chosen), dtype=np.intp)


def _worth_joining(table: Table, program: _Program) -> NDArray[np.intp]:
    values = program.values()
    cost = np.maximum(node_cost(table, values), 1e-9)
    ratio = most_value(table, values) / cost
    ratio[list(program.nodes)] = 0.0
    best = np.argsort(-ratio, kind="stable")[:JOINING]
    return np.sort(best[ratio[best] > 1.0 + 1e-6])
