"""A renewal as one linear program: the share of each node to remove, and what its pods are worth.

A node that stays brings its own pods and its free room. A pod must be on its own node if that
stays, in the free room of others, or on a bought node. Fractions are allowed, and places for the
same classes share one room. The prices of the program value each pod and all free room. What a node
costs beyond that is its waste, which guides the search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.cluster import clustered, clusters, numbered
from reconciler.solver.bound.bound import DualValues
from reconciler.solver.bound.offer_program import (
    MANY,
    OfferProgram,
    cheapest_offers,
    worth_joining,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.model.budget import Budget
    from reconciler.solver.renewal.field import Field

KINDS = 16
"""The most rooms; the other kinds of places share the room of the most similar kind."""
ROUNDS = 5
JOINING = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """What the program suggests: the share of each node that stays, its waste, and the prices."""

    stays: NDArray[np.float64]
    waste: NDArray[np.float64]
    values: DualValues
    most: float
    """About the most that a set of removed nodes can gain.

    It is the most if the program has all offers that would pay, and no clusters of classes.
    """


def lean(field: Field, budget: Budget) -> Leaning:
    """What the program suggests; without a solution, each node wastes its whole cost."""
    if not field.goods.classes or not field.goods.offers:
        return _upright(field)
    if field.goods.classes <= MANY:
        return _lean(field, budget) or _upright(field)
    numbers = clusters(field.goods)
    found = _lean(_clustered(field, numbers), budget)
    return _upright(field) if found is None else _told_to_each(field, numbers, found)


def _upright(field: Field) -> Leaning:
    goods = field.goods
    return Leaning(
        stays=np.zeros(len(field.holds)),
        waste=field.worth_going,
        values=DualValues(
            units=np.zeros(goods.classes),
            limits=np.zeros(len(goods.limits)),
            minima=np.zeros(len(goods.minima)),
            resources=np.zeros((1, goods.size.shape[1])),
        ),
        most=float(field.worth_going.sum()),
    )


def _clustered(field: Field, numbers: NDArray[np.intp]) -> Field:
    """The field with one class for each cluster, which may go where most of its units may go."""
    goods = clustered(field.goods, numbers)
    member = (numbers[:, None] == np.arange(goods.classes)).astype(np.float64)
    admitted = field.admits @ (member * field.goods.demand[:, None])
    holds = (field.holds @ member).astype(np.int64)
    return replace(field, goods=goods, admits=admitted >= 0.5 * goods.demand, holds=holds)


def _told_to_each(field: Field, numbers: NDArray[np.intp], found: Leaning) -> Leaning:
    """The values of clusters for each of their classes, in proportion to its size."""
    size = (field.goods.size / np.maximum(np.median(field.capacity, axis=0), 1.0)).sum(axis=1)
    number = np.bincount(numbers, weights=field.goods.demand)
    mean = np.bincount(numbers, weights=field.goods.demand * size) / np.maximum(number, 1)
    units = found.values.units[numbers] * size / np.maximum(mean[numbers], 1e-12)
    return replace(found, values=replace(found.values, units=units))


def _lean(field: Field, budget: Budget) -> Leaning | None:
    """Solve the program, and add offers until no other would pay."""
    program = _Program(field)
    for o in sorted(cheapest_offers(field.goods)):
        program.join(o)
    for _ in range(ROUNDS):
        if program.solve(budget) is None:
            return None
        joining = worth_joining(field.goods, program.values(), program.rows, most=JOINING)
        if not len(joining):
            break
        for o in joining.tolist():
            program.join(o)
    return program.answer(budget)


class _Program(OfferProgram):
    """The linear program, with the free room of what stands, and a share of each node."""

    def __init__(self, field: Field) -> None:
        super().__init__(field.goods, field.capacity)
        self.field = field
        self.rooms: list[list[int]] = []
        self.nodes: list[int] = []
        # A pod that fits nowhere must not leave the program without a solution.
        dear = 20.0 * max(1.0, float(field.goods.price.max(initial=1.0)) / self.scale)
        self.leave_out([dear] * field.goods.classes)
        self._open_rooms()

    def _open_rooms(self) -> None:
        """Add a room for each kind of place; a removed node takes its share of the room with it."""
        field = self.field
        kinds, admits = _kinds(field)
        free = field.capacity * self.weights
        for kind, admitted in enumerate(admits):
            stays = free[: field.first][kinds[: field.first] == kind].sum(axis=0)
            rows = [self.program.at_most(float(amount)) for amount in stays]
            self.rooms.append(rows)
            for k in np.flatnonzero(admitted).tolist():
                self.unit(k, rows)
        # A node is a variable between 0 and 1. As far as it stays, it covers the demand of its own
        # pods and adds its free room.
        for i, held in enumerate(field.holds):
            kept = [(self.demand[k], float(held[k])) for k in np.flatnonzero(held).tolist()]
            rows = self.rooms[kinds[field.first + i]]
            room = [(row, -float(f)) for row, f in zip(rows, free[field.first + i], strict=True)]
            cost = float(field.worth_going[i]) / self.scale
            self.nodes.append(self.program.column(cost, [*kept, *room], 1.0))

    def join(self, o: int) -> None:
        """Add an offer that can be bought."""
        self.offer(o)
        for k in np.flatnonzero(self.table.allowed[:, o]).tolist():
            self.unit(k, self.rows[o])

    def solve(self, budget: Budget) -> float | None:
        """The lowest cost of nodes that stay and nodes that are bought."""
        cost = self.program.solve()
        budget.spend(self.program.ticks)
        return cost

    def values(self) -> DualValues:
        """The values and prices of the last solution."""
        prices = self.prices()
        paid = self.paid(prices)
        return DualValues(
            units=np.maximum(prices[self.demand], 0.0),
            limits=np.maximum(-prices[self.limits], 0.0),
            minima=np.zeros(len(self.table.minima)),
            resources=np.unique(paid, axis=0) if len(paid) else np.zeros((1, len(self.weights))),
        )

    def answer(self, budget: Budget) -> Leaning | None:
        """The solution as figures for each node."""
        cost = self.solve(budget)
        if cost is None:
            return None
        field, values = self.field, self.values()
        kinds, _ = _kinds(field)
        prices = -np.minimum(self.program.duals()[self.rooms], 0.0) * self.scale * self.weights
        room = (field.capacity[field.first :] * prices[kinds[field.first :]]).sum(axis=1)
        return Leaning(
            stays=self.program.values()[self.nodes],
            waste=field.worth_going - field.holds @ values.units - room,
            values=values,
            most=float(field.worth_going.sum()) - cost * self.scale,
        )


def _kinds(field: Field) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """For each place the number of its room, and for each room the classes that it admits."""
    numbers = numbered(np.packbits(field.admits, axis=1))
    common = np.argsort(-np.bincount(numbers), kind="stable")[:KINDS]
    admits = field.admits[[int((numbers == number).argmax()) for number in common]]
    own = {int(number): kind for kind, number in enumerate(common)}
    likeness = field.admits.astype(np.float32) @ admits.T.astype(np.float32)
    likeness -= 0.5 * admits.sum(axis=1)
    nearest = likeness.argmax(axis=1)
    kinds = np.array([own.get(int(n), int(near)) for n, near in zip(numbers, nearest, strict=True)])
    # A room admits what any of its places admits. So the program allows more than there is, and its
    # optimum stays a limit on what can be gained.
    for kind in range(len(admits)):
        admits[kind] = field.admits[kinds == kind].any(axis=0)
    return kinds.astype(np.intp), admits
