"""Column generation: adds the patterns that the current prices ask for, until none is missing."""

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
"""The most patterns added in one round: more cost more time in the program than they save."""
WORTHWHILE = 1e-6
"""A pattern with a smaller gain is a rounding error."""
LOOKED_AT = 96
"""Offers filled in one round. All are filled in one of `ALL` rounds, and when none pays."""
ALL = 8
SEEDED = 2_000
"""The most fillings in a round that starts each offer with each class."""


@dataclass(slots=True)
class ColumnPricing:
    """How to look for patterns: the ways, which take turns, and the prices to stay close to.

    An offer that gave little is unlikely to give much one round later. So a round fills only the
    offers that gave most when they were filled last.
    """

    center: NDArray[np.float64]
    ways: list[PricingWay]
    gains: NDArray[np.float64]
    """The gain of each offer's best content when it was last filled."""
    turn: int = 0
    rounds: int = 0
    seeded: int = 0
    """The number of seeded rounds in a row that may find nothing."""

    def next_way(self) -> PricingWay:
        """The next way to look."""
        self.turn += 1
        return self.ways[self.turn % len(self.ways)]

    def next_offers(self, usable: NDArray[np.intp]) -> NDArray[np.intp]:
        """The offers to fill in this round."""
        self.rounds += 1
        if len(usable) <= LOOKED_AT or self.rounds % ALL == 1:
            return usable
        best = np.argsort(-self.gains[usable], kind="stable")[:LOOKED_AT]
        return np.sort(usable[best])

    def look_at_all(self) -> None:
        """Fill all offers in the next round."""
        self.rounds = 0


def pricing_of(master: Master, values: DualValues, *, seeded: int = 0) -> ColumnPricing:
    """The weights of the relaxation and even weights, each with and without randomness."""
    table = master.table
    best, even = best_weights(table, values), even_weights(table)
    # A fixed seed: the same problem must give the same patterns.
    chance = np.random.default_rng(1)
    ways = [
        PricingWay(weights=weights, blur=blur, chance=chance)
        for weights, blur in ((best, 0.0), (best, 0.1), (even, 0.0), (best, 0.3))
    ]
    # An offer that was never filled comes before all others.
    gains = np.full(table.offers, np.inf)
    return ColumnPricing(center=values.units, ways=ways, gains=gains, seeded=seeded)


def generate(master: Master, pricing: ColumnPricing, budget: Budget, rounds: int) -> bool:
    """Solve and price in rounds, for the whole demand; returns whether nothing new was found."""
    dry, ways = 0, len(pricing.ways)
    for _ in range(rounds):
        if budget.over or not master.solve():
            return False
        units, cost = master.prices()
        if dry > ways:
            # Greedy fillings have found nothing in any of the ways; seeds may still find something.
            found = join_seeded(master, pricing, units=units, cost=cost)
            dry = ways + 1 if found else dry + 1
        else:
            # The prices of a young program swing widely. Halfway to those of the relaxation they
            # swing less, which saves rounds; after a round without a find, the real ones decide.
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
    """Fill one node of each promising offer, and add those that are worth more than they cost."""
    table = master.table
    usable = np.flatnonzero(table.allowed[left > 0].any(axis=0))
    offers = pricing.next_offers(usable)
    found = price(table, units=aimed, cost=cost, offers=offers, left=left, way=pricing.next_way())
    waiting = int((left > 0).sum())
    master.budget.spend(300 + len(offers) * (2 + 0.12 * waiting) + 18 * waiting)
    gain = (found.counts @ units - found.cost) / np.maximum(found.cost, 1e-6)
    pricing.gains[offers] = gain
    joined = _join(master, found, gain)
    # The next round fills the skipped offers too, so that none is missed before the search is dry.
    if not joined:
        pricing.look_at_all()
    return joined


def join_seeded(
    master: Master, pricing: ColumnPricing, *, units: NDArray[np.float64], cost: NDArray[np.float64]
) -> int:
    """Fill the offers that gave most, once for each class that they can start with."""
    table = master.table
    pricing.rounds += 1
    # The pairs are sorted by offer, the best one first, so `SEEDED` cuts off the least promising.
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
    """Add the candidates with the largest gains to the program."""
    joined = 0
    for row in np.argsort(-gain, kind="stable").tolist():
        if joined >= JOINING or gain[row] <= WORTHWHILE:
            break
        joined += master.add(int(found.offers[row]), found.counts[row])
    return joined
