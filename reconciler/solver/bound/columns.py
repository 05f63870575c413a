"""Column generation: contents of nodes that the present prices call for, until none is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.bound.price import (
    PricingWay,
    best_weights,
    even_weights,
    price,
    price_seeded,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.bound.bound import DualValues
    from reconciler.solver.bound.master import Master
    from reconciler.solver.bound.price import Candidates
    from reconciler.solver.model.budget import Budget

JOINING = 48
"""Patterns that join in one round: more make the linear program larger than they help it."""
WORTHWHILE = 1e-6
LOOKED_AT = 96
"""Offers that are filled in a round; all of them in every `ALL` rounds, and when none pays."""
ALL = 8
SEEDED = 2_000
"""Fillings in a round in which each class of each promising offer comes first once."""


@dataclass(slots=True)
class ColumnPricing:
    """How to look for patterns: ways, taken in turn, and prices to lean towards.

    An offer that gave little is not likely to give much a moment later, so not all are filled in
    each round: those that gave most when they were filled last.
    """

    center: NDArray[np.float64]
    ways: list[PricingWay]
    gains: NDArray[np.float64]
    """What the best content of each offer was worth beyond its cost, when it was last filled."""
    turn: int = 0
    rounds: int = 0
    seeded: int = 0
    """So many rounds in a row with a class each that comes first may find nothing."""

    def next_way(self) -> PricingWay:
        """The way whose turn it is."""
        self.turn += 1
        return self.ways[self.turn % len(self.ways)]

    def next_offers(self, usable: NDArray[np.intp]) -> NDArray[np.intp]:
        """The offers to look at in this round."""
        self.rounds += 1
        if len(usable) <= LOOKED_AT or self.rounds % ALL == 1:
            return usable
        best = np.argsort(-self.gains[usable], kind="stable")[:LOOKED_AT]
        return np.sort(usable[best])

    def look_at_all(self) -> None:
        """In the next round no offer is left out."""
        self.rounds = 0


def pricing_of(master: Master, values: DualValues, *, seeded: int = 0) -> ColumnPricing:
    """The relaxation's weights first, then even ones; each straight, a little blurred, and more."""
    table = master.table
    best, even = best_weights(table, values), even_weights(table)
    chance = np.random.default_rng(1)
    ways = [
        PricingWay(weights=weights, blur=blur, chance=chance)
        for weights, blur in ((best, 0.0), (best, 0.1), (even, 0.0), (best, 0.3))
    ]
    gains = np.full(table.offers, np.inf)
    return ColumnPricing(center=values.units, ways=ways, gains=gains, seeded=seeded)


def generate(master: Master, pricing: ColumnPricing, budget: Budget, rounds: int) -> bool:
    """Rounds of solving and pricing for the whole demand; says whether it ran dry.

    Prices halfway to the relaxation's swing less from round to round, so fewer rounds are wasted.
    """
    dry, ways = 0, len(pricing.ways)
    for _ in range(rounds):
        if budget.over or not master.solve():
            return False
        units, cost = master.prices()
        if dry > ways:
            found = join_seeded(master, pricing, units=units, cost=cost)
            dry = ways + 1 if found else dry + 1
        else:
            lean = 0.5 if dry == 0 else 0.0
            center = np.minimum(pricing.center, units.max(initial=0.0) * 4)
            aimed = (1 - lean) * units + lean * center
            left = master.table.demand
            found = join_best(master, pricing, units=units, aimed=aimed, cost=cost, left=left)
            dry = 0 if found else dry + 1
        if dry > ways + pricing.seeded:
            return True
    return False


def join_best(
    master: Master,
    pricing: ColumnPricing,
    *,
    units: NDArray[np.float64],
    aimed: NDArray[np.float64],
    cost: NDArray[np.float64],
    left: NDArray[np.int64],
) -> int:
    """Fill one node of each promising offer; those join whose worth exceeds their cost."""
    table = master.table
    usable = np.flatnonzero(table.allowed[left > 0].any(axis=0))
    offers = pricing.next_offers(usable)
    found = price(table, units=aimed, cost=cost, offers=offers, left=left, way=pricing.next_way())
    waiting = int((left > 0).sum())
    master.budget.spend(300 + len(offers) * (2 + 0.12 * waiting) + 18 * waiting)
    gain = (found.counts @ units - found.cost) / np.maximum(found.cost, 1e-6)
    pricing.gains[offers] = gain
    joined = _join(master, found, gain)
    if not joined:
        pricing.look_at_all()
    return joined


def join_seeded(
    master: Master, pricing: ColumnPricing, *, units: NDArray[np.float64], cost: NDArray[np.float64]
) -> int:
    """Fill the offers that gave most, each once for every class that comes first."""
    table = master.table
    pricing.rounds += 1
    best = np.argsort(-pricing.gains, kind="stable")
    pairs = np.nonzero((table.allowed & (units > 0)[:, None]).T[best])
    seeds = (best[pairs[0][:SEEDED]], pairs[1][:SEEDED])
    found = price_seeded(
        table,
        units=units,
        cost=cost,
        seeds=seeds,
        times=1 + pricing.rounds % 2,
        way=pricing.next_way(),
    )
    master.budget.spend(300 + len(seeds[0]) * (1 + 0.06 * table.classes))
    return _join(master, found, found.gain)


def _join(master: Master, found: Candidates, gain: NDArray[np.float64]) -> int:
    """Let the best of the candidates that gain anything take part."""
    joined = 0
    for row in np.argsort(-gain, kind="stable").tolist():
        if joined >= JOINING or gain[row] <= WORTHWHILE:
            break
        joined += master.add(int(found.offers[row]), found.counts[row])
    return joined
