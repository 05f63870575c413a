"""The problem as arrays: equal lots are merged, and offers that can't be the best are removed.

Merging saves more time than anything else in the solver: of a thousand classes, often only two
hundred differ. Amounts are floats, which hold integers below 2**53 exactly and divide several times
faster than integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.fill import NOTHING
from reconciler.solver.arrays.reduce import reduce_offers
from reconciler.solver.model.dimensions import ENDLESS, clashes_of, node_dimensions
from reconciler.solver.model.problem import HOSTNAME, Near
from reconciler.solver.model.spreads import NOTHING_ASSUMED, Assumptions, node_spreads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.lots import Lot, OfferArrays
    from reconciler.solver.model.problem import Limit, Minimum, Offer, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Arrays over K classes of equal units, O offers, R resources, L limits and M minima.

    By class: `lots`, `demand` (units), `size` (K x R), `per_node`, `priority`, `allowed` (K x O),
    `clashes` (K x K). By offer: `names` (each with its count), `capacity` (O x R), `price`, `sunk`,
    `standing`, `place` (equal numbers lie in the same domains of all open groups), `most`.
    `amounts` (L x O) is what a node takes from `limits`; `minimum_of` (M x O) has the members of
    `minima`.
    """

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
        """The number of classes."""
        return len(self.demand)

    @property
    def offers(self) -> int:
        """The number of offers."""
        return len(self.price)

    @property
    def most_there(self) -> NDArray[np.int64]:
        """The most nodes of each offer that a plan can use."""
        return np.minimum(self.most, int(self.demand.sum()))

    def pods_in(self, k: int) -> int:
        """The number of pods in one unit of a class."""
        return sum(times for _, times in self.lots[k][0].pods)

    def with_classes(self, kept: NDArray[np.intp]) -> Table:
        """The same table with some of its classes, in the given order."""
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
        """The same table with some of its offers, in the given order."""
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


def table_of(
    problem: Problem,
    lots: Sequence[Lot],
    ground: OfferArrays,
    *,
    assumed: Assumptions = NOTHING_ASSUMED,
) -> Table:
    """The table of a problem; each lot must fit on some offer when nothing else is there.

    `assumed` is about the emptiest node of each spread over nodes.
    """
    whole = whole_table(problem, lots, ground, assumed=assumed)
    return reduce_offers(without_idle_resources(whole))


def whole_table(
    problem: Problem,
    lots: Sequence[Lot],
    ground: OfferArrays,
    *,
    assumed: Assumptions = NOTHING_ASSUMED,
) -> Table:
    """The same table with all offers and resources, in the order of the ground."""
    merged = _merge(lots)
    firsts = [same[0] for same in merged]
    k, o = len(firsts), len(ground.offers)
    allowed = np.array([lot.allowed for lot in firsts], dtype=np.bool_).reshape(k, o)
    own = np.array([lot.requests for lot in firsts], dtype=np.float64)
    extra = node_dimensions(problem, firsts, allowed=allowed, ground=ground, assumed=assumed)
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
    """A number for each offer, the same for offers in the same domains of all open groups.

    In a spread over nodes, the ones with equally many pods are alike.
    """
    bonds = {name for lot in lots for name in lot.bonds}
    open_groups = [group for group in problem.groups if group.name in bonds]
    keys = sorted({group.key for group in open_groups} - {HOSTNAME})
    # Nodes with a running anchor differ from others.
    near = [g.running for g in open_groups if isinstance(g, Near) and g.key == HOSTNAME]
    spreads = [spread for spread in node_spreads(problem) if spread.rule.name in bonds]
    lies = [
        (
            *(offer.labels.get(key, "") for key in keys),
            *(offer.name in names for names in near),
            *(spread.standing.get(offer.name, -1) for spread in spreads if offer.exists),
            *(spread.counts(offer) for spread in spreads),
        )
        for offer in ground.offers
    ]
    numbers = {domains: number for number, domains in enumerate(dict.fromkeys(lies))}
    return np.array([numbers[domains] for domains in lies], dtype=np.int64)


def _count_limit(offer: Offer) -> int:
    if offer.exists:
        return 1
    return ENDLESS if offer.most is None else min(offer.most, ENDLESS)


def _that_may_bind(problem: Problem) -> Iterator[Limit]:
    """The limits that a plan could reach: a plan has no more new nodes than pods and minima.

    If each type has a maximum, even one that is far too high to matter, each offer takes from a
    different limit, and then none can dominate another. The check is on the whole problem, so that
    all tables of one problem have the same limits.
    """
    nodes = sum(one.count for one in problem.classes) + sum(one.count for one in problem.minima)
    for limit in problem.limits:
        if nodes * max(limit.amounts.values(), default=0) > limit.most:
            yield limit


def _amounts(limits: Sequence[Limit], ground: OfferArrays) -> NDArray[np.float64]:
    """What a new node of each offer takes from each limit; an existing node takes nothing."""
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
    """How many units of each class one empty node of each offer holds."""
    room = np.full((table.classes, table.offers), float(ENDLESS))
    for r in range(table.size.shape[1]):
        needs = table.size[:, r]
        held = np.floor(table.capacity[None, :, r] / np.maximum(needs, NOTHING)[:, None])
        room = np.where(needs[:, None] > 0, np.minimum(room, held), room)
    room = np.minimum(room, np.minimum(table.per_node, table.demand)[:, None])
    return np.where(table.allowed, room, 0.0)


def _tightened(table: Table) -> Table:
    """Removes offers from `allowed` that have no room for a single unit of the class.

    The same goes for an offer of which the limits don't leave a single node. Units that can use
    nothing else are left out by all plans, so the bound doesn't have to count them.
    """
    can_be_had = (table.amounts <= table.limits[:, None]).all(axis=0) & (table.most > 0)
    return replace(table, allowed=(room_alone(table) > 0) & can_be_had)


def without_idle_resources(table: Table) -> Table:
    """The table without resources of which each node has enough for all units."""
    # Such a resource never decides anything. Pods, disk or GPUs often are such resources.
    total = table.demand.astype(np.float64) @ table.size
    kept = np.asarray((table.capacity < total[None, :]).any(axis=0))
    if not kept.any():
        # numpy has no minimum over an empty axis, and all packing takes one over the resources.
        kept[:1] = True
    return replace(table, size=table.size[:, kept], capacity=table.capacity[:, kept])
