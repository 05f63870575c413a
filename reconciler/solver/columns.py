"""Column generation: contents of nodes that the present prices call for, until none is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.price import Way, best_weights, even_weights, price

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.bound import Values
    from reconciler.solver.budget import Budget
    from reconciler.solver.master import Master

JOINING = 48
"""Patterns that join in one round: more make the linear program larger than they help it."""
WORTHWHILE = 1e-6
LOOKED_AT = 96
"""Offers that are filled in a round; all of them in every `ALL` rounds, and when none pays."""
ALL = 8


@dataclass(slots=True)
class Pricing:
    """How to look for patterns: ways, taken in turn, and prices to lean towards.

    An offer that gave little is not likely to give much a moment later, so not all are filled in
    each round: those that gave most when they were filled last.
    """

    center: NDArray[np.float64]
    ways: list[Way]
    gains: NDArray[np.float64]
    """What the best content of each offer was worth beyond its cost, when it was last filled."""
    turn: int = 0
    rounds: int = 0

    def next_way(self) -> Way:
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


def pricing_of(master: Master, values: Values) -> Pricing:
    """The relaxation's weights first, then even ones; each straight, a little blurred, and more."""
    table = master.table
    best, even = best_weights(table, values), even_weights(table)
    chance = np.random.default_rng(1)
    ways = [
        Way(weights=weights, blur=blur, chance=chance)
        for weights, blur in ((best, 0.0), (best, 0.1), (even, 0.0), (best, 0.3))
    ]
    return Pricing(center=values.units, ways=ways, gains=np.full(table.offers, np.inf))


def generate(master: Master, pricing: Pricing, budget: Budget, rounds: int) -> bool:
    """Rounds of solving and pricing for the whole demand; says whether it ran dry.

    Prices halfway to the relaxation's swing less from round to round, so fewer rounds are wasted.
    """
    dry = 0
    for _ in range(rounds):
        if budget.over or not master.solve():
            return False
        units, cost = master.prices()
        lean = 0.5 if dry == 0 else 0.0
        aimed = (1 - lean) * units + lean * np.minimum(pricing.center, units.max(initial=0.0) * 4)
        found = join_best(
            master, pricing, units=units, aimed=aimed, cost=cost, left=master.table.demand
        )
        dry = 0 if found else dry + 1
        if dry > len(pricing.ways):
            return True
    return False


def join_best(
    master: Master,
    pricing: Pricing,
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
    best = np.argsort(-gain, kind="stable")[:JOINING]
    joined = 0
    for row in best.tolist():
        if gain[row] > WORTHWHILE:
            joined += master.add(int(offers[row]), found.counts[row])
    if not joined:
        pricing.look_at_all()
    return joined
