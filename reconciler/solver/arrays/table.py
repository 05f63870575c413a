"""The problem as a few arrays: equal lots merged, offers that can never be best taken out.

Merging is the largest single gain of the whole solver: a thousand generated classes are often two
hundred different ones. Amounts are kept as floats, which hold integers below 2**53 exactly and
divide several times faster than integers do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.fill import NOTHING
from reconciler.solver.arrays.reduce import reduce_offers
from reconciler.solver.model.dimensions import clashes_of, node_dimensions
from reconciler.solver.model.problem import HOSTNAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.lots import Lot, OfferArrays
    from reconciler.solver.model.problem import Limit, Minimum, Offer, Problem

ENDLESS = 2**40
"""A count that no plan reaches: stands for `as many as wanted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """K classes of equal units, O kinds of nodes, R resources, L limits and M minima."""

    lots: tuple[tuple[Lot, ...], ...]
    demand: NDArray[np.int64]
    size: NDArray[np.float64]
    per_node: NDArray[np.float64]
    priority: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    clashes: NDArray[np.bool_] | None
    names: tuple[tuple[tuple[str, int], ...], ...]
    capacity: NDArray[np.float64]
    price: NDArray[np.float64]
    sunk: NDArray[np.float64]
    standing: NDArray[np.bool_]
    place: NDArray[np.int64]
    most: NDArray[np.int64]
    amounts: NDArray[np.float64]
    limits: NDArray[np.float64]
    minimum_of: NDArray[np.bool_]
    minima: NDArray[np.int64]

    @property
    def classes(self) -> int:
        """How many different kinds of units there are."""
        return len(self.demand)

    @property
    def offers(self) -> int:
        """How many different kinds of nodes there are."""
        return len(self.price)

    @property
    def most_there(self) -> NDArray[np.int64]:
        """How many nodes of each offer can be of use at all."""
        return np.minimum(self.most, int(self.demand.sum()))

    def pods_in(self, k: int) -> int:
        """How many pods one unit of a class holds."""
        return sum(times for _, times in self.lots[k][0].pods)

    def with_classes(self, kept: NDArray[np.intp]) -> Table:
        """The same table with some of its classes, in the order given."""
        clashes = self.clashes
        return replace(
            self,
            lots=tuple(self.lots[k] for k in kept.tolist()),
            demand=self.demand[kept],
            size=self.size[kept],
            per_node=self.per_node[kept],
            priority=self.priority[kept],
            allowed=self.allowed[kept],
            clashes=None if clashes is None else clashes[np.ix_(kept, kept)],
        )

    def with_offers(self, kept: NDArray[np.intp]) -> Table:
        """The same table with some of its offers, in the order given."""
        return replace(
            self,
            allowed=self.allowed[:, kept],
            names=tuple(self.names[o] for o in kept),
            capacity=self.capacity[kept],
            price=self.price[kept],
            sunk=self.sunk[kept],
            standing=self.standing[kept],
            place=self.place[kept],
            most=self.most[kept],
            amounts=self.amounts[:, kept],
            minimum_of=self.minimum_of[:, kept],
        )


def table_of(problem: Problem, lots: Sequence[Lot], ground: OfferArrays) -> Table:
    """The arrays of a problem; every lot must fit on some node when it is alone there."""
    return reduce_offers(without_idle_resources(whole_table(problem, lots, ground)))


def whole_table(problem: Problem, lots: Sequence[Lot], ground: OfferArrays) -> Table:
    """The same with every offer and every resource, in the order of the ground."""
    merged = _merge(lots)
    firsts = [same[0] for same in merged]
    k, o = len(firsts), len(ground.offers)
    allowed = np.array([lot.allowed for lot in firsts], dtype=np.bool_).reshape(k, o)
    own = np.array([lot.requests for lot in firsts], dtype=np.float64)
    extra = node_dimensions(problem, firsts, allowed=allowed, ground=ground)
    limits = sorted(_that_may_bind(problem), key=lambda limit: limit.name)
    minima = sorted(problem.minima, key=lambda minimum: minimum.name)
    whole = Table(
        lots=tuple(tuple(same) for same in merged),
        demand=np.array([sum(lot.count for lot in same) for same in merged], dtype=np.int64),
        size=np.hstack([own.reshape(k, len(problem.resources)), extra.size]),
        per_node=extra.per_node,
        priority=np.array([lot.priority for lot in firsts], dtype=np.int64),
        allowed=allowed,
        clashes=clashes_of(firsts),
        names=tuple(((offer.name, _count_limit(offer)),) for offer in ground.offers),
        capacity=np.hstack([ground.capacity, extra.capacity]),
        price=ground.price.astype(np.float64),
        sunk=np.zeros(o),
        standing=np.array([offer.exists for offer in ground.offers], dtype=np.bool_),
        place=_places(problem, firsts, ground),
        most=np.array([_count_limit(offer) for offer in ground.offers], dtype=np.int64),
        amounts=_amounts(limits, ground),
        limits=np.array([limit.most for limit in limits], dtype=np.float64),
        minimum_of=_minimum_members(minima, ground),
        minima=np.array([minimum.count for minimum in minima], dtype=np.int64),
    )
    return _tightened(whole)


def _merge(lots: Sequence[Lot]) -> list[list[Lot]]:
    groups: dict[tuple[object, ...], list[Lot]] = {}
    for lot in sorted(lots, key=lambda lot: lot.pods):
        groups.setdefault(lot.key, []).append(lot)
    return sorted(groups.values(), key=lambda same: (same[0].requests, same[0].pods), reverse=True)


def _places(problem: Problem, lots: Sequence[Lot], ground: OfferArrays) -> NDArray[np.int64]:
    """A number for each offer; offers with one number lie in the same domains of open groups."""
    bonds = {name for lot in lots for name in lot.bonds}
    keys = sorted({group.key for group in problem.groups if group.name in bonds} - {HOSTNAME})
    lies = [tuple(offer.labels.get(key, "") for key in keys) for offer in ground.offers]
    numbers = {domains: number for number, domains in enumerate(sorted(set(lies)))}
    return np.array([numbers[domains] for domains in lies], dtype=np.int64)


def _count_limit(offer: Offer) -> int:
    if offer.exists:
        return 1
    return ENDLESS if offer.most is None else min(offer.most, ENDLESS)


def _that_may_bind(problem: Problem) -> Iterator[Limit]:
    """Limits that a plan could run into: none has more new nodes than pods and minima.

    A maximum for each type, far away, would keep each offer from being compared with the others.
    It is asked of the whole problem, so that all tables of one problem have the same limits.
    """
    nodes = sum(one.count for one in problem.classes) + sum(one.count for one in problem.minima)
    for limit in problem.limits:
        if nodes * max(limit.amounts.values(), default=0) > limit.most:
            yield limit


def _amounts(limits: Sequence[Limit], ground: OfferArrays) -> NDArray[np.float64]:
    """What a new node of each offer takes from each limit; a node that exists takes nothing."""
    new = {offer.name: o for o, offer in enumerate(ground.offers) if not offer.exists}
    amounts = np.zeros((len(limits), len(ground.offers)))
    for row, limit in zip(amounts, limits, strict=True):
        for name in limit.amounts.keys() & new.keys():
            row[new[name]] = limit.amounts[name]
    return amounts


def _minimum_members(minima: Sequence[Minimum], ground: OfferArrays) -> NDArray[np.bool_]:
    rows = [[offer.name in minimum.offers for offer in ground.offers] for minimum in minima]
    return np.array(rows, dtype=np.bool_).reshape(len(minima), len(ground.offers))


def room_alone(table: Table) -> NDArray[np.float64]:
    """How many units of each class one node of each offer holds when nothing else is there."""
    room = np.full((table.classes, table.offers), float(ENDLESS))
    for r in range(table.size.shape[1]):
        needs = table.size[:, r]
        held = np.floor(table.capacity[None, :, r] / np.maximum(needs, NOTHING)[:, None])
        room = np.where(needs[:, None] > 0, np.minimum(room, held), room)
    room = np.minimum(room, np.minimum(table.per_node, table.demand)[:, None])
    return np.where(table.allowed, room, 0.0)


def _tightened(table: Table) -> Table:
    """An offer on which not one unit of a class has room isn't allowed for it.

    Nor is one for anybody of which limits don't leave a single node: who could use nothing else is
    left out by every plan, and what the others cost can be bounded without them.
    """
    can_be_had = (table.amounts <= table.limits[:, None]).all(axis=0) & (table.most > 0)
    return replace(table, allowed=(room_alone(table) > 0) & can_be_had)


def without_idle_resources(table: Table) -> Table:
    """Resources of which every node has enough for all units never decide anything."""
    total = table.demand.astype(np.float64) @ table.size
    kept = np.asarray((table.capacity < total[None, :]).any(axis=0))
    if not kept.any():
        kept[:1] = True
    return replace(table, size=table.size[:, kept], capacity=table.capacity[:, kept])
