"""Makes candidates for patterns, hundreds at a time: contents that may be worth more than the node.

Each offer is filled greedily, with the units of the highest value per share of the node first. What
a share is depends on which resource is scarce. The resource prices of the relaxation are a good
measure; other weights take turns with them, because each finds patterns that the others miss. A
random change of the greedy order finds most of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.fill import divisors, fill

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.bound import DualValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """One filling of each offer, with its worth and the cost of the node."""

    offers: NDArray[np.intp]
    counts: NDArray[np.int64]
    worth: NDArray[np.float64]
    cost: NDArray[np.float64]

    @property
    def gain(self) -> NDArray[np.float64]:
        """Worth minus cost, as a share of the cost."""
        return (self.worth - self.cost) / np.maximum(self.cost, 1e-6)


@dataclass(frozen=True, slots=True, kw_only=True)
class PricingWay:
    """One way to fill: the weight of each resource on each offer, and how random the order is."""

    weights: NDArray[np.float64]
    blur: float
    chance: np.random.Generator


def price(
    table: Table,
    *,
    units: NDArray[np.float64],
    cost: NDArray[np.float64],
    offers: NDArray[np.intp],
    left: NDArray[np.int64],
    way: PricingWay,
) -> Candidates:
    """Fill one node of each offer with the units of the highest value per share of the node.

    Classes without value and classes with no units left are ignored.
    """
    waiting = np.flatnonzero((left > 0) & (units > 0))
    # The order is a knapsack heuristic: by value per weight, where the weight of a unit is the
    # price of its resources.
    share = way.weights[offers] @ table.size[waiting].T
    density = units[waiting][None, :] / np.maximum(share, 1e-12)
    if way.blur:
        density *= way.chance.uniform(1.0 - way.blur, 1.0 + way.blur, density.shape)
    order = waiting[np.argsort(-density, axis=1, kind="stable")]
    ceiling = np.where(table.allowed[:, offers].T, np.minimum(left, table.per_node)[None, :], 0.0)
    counts = fill(
        free=table.capacity[offers],
        order=order,
        ceiling=ceiling,
        sizes=divisors(table),
        clashes=table.clashes,
    )
    return Candidates(offers=offers, counts=counts, worth=counts @ units, cost=cost[offers])


def price_seeded(
    table: Table,
    *,
    units: NDArray[np.float64],
    cost: NDArray[np.float64],
    seeds: tuple[NDArray[np.intp], NDArray[np.intp]],
    times: int,
    way: PricingWay,
) -> Candidates:
    """The same for pairs of an offer and a class: the class comes first, with `times` units.

    If few pods fill a node, the best content often has a pod that no greedy order puts first.
    """
    offers, first = seeds
    rows = np.arange(len(offers))
    density = (units[None, :] / np.maximum(way.weights @ table.size.T, 1e-12))[offers]
    if way.blur:
        density *= way.chance.uniform(1.0 - way.blur, 1.0 + way.blur, density.shape)
    density[rows, first] = np.inf
    most = np.where(units > 0, np.minimum(table.demand, table.per_node), 0.0)
    ceiling = np.where(table.allowed[:, offers].T, most[None, :], 0.0)
    ceiling[rows, first] = np.minimum(ceiling[rows, first], times)
    counts = fill(
        free=table.capacity[offers],
        order=np.argsort(-density, axis=1, kind="stable"),
        ceiling=ceiling,
        sizes=divisors(table),
        clashes=table.clashes,
    )
    return Candidates(offers=offers, counts=counts, worth=counts @ units, cost=cost[offers])


def best_weights(table: Table, values: DualValues) -> NDArray[np.float64]:
    """For each offer, the suggested resource prices that give the tightest bound on its worth."""
    excess = np.maximum(values.units[None, :] - values.resources @ table.size.T, 0.0)
    excess *= np.minimum(table.per_node, table.demand)[None, :]
    bound = values.resources @ table.capacity.T + excess @ table.allowed
    return np.asarray(values.resources[bound.argmin(axis=0)])


def even_weights(table: Table) -> NDArray[np.float64]:
    """Weights by which a resource counts as the share of the node that a unit takes."""
    return 1.0 / np.maximum(table.capacity, 1.0)
