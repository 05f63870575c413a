"""A lower bound on the cost of all plans, which is true whatever prices it is computed from.

Give each unit of a class a value. If no node can hold more value than it costs, each plan costs at
least the value of all units (Farley's bound). The value that one node can hold is bounded from
above by prices on its resources (Lagrange). Better values and prices give a higher bound; bad ones
give a low bound that is still true. So errors in the floats of a linear program do no harm: they
only suggest the values. The error of the sums here is subtracted at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.cluster import numbered
from reconciler.solver.model.dimensions import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table

SAFETY = 1e-9
"""The relative error that is assumed for the sums below: several thousand times the real one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DualValues:
    """The values of one unit of each class, of limits and of minima, and prices of resources."""

    units: NDArray[np.float64]
    limits: NDArray[np.float64]
    minima: NDArray[np.float64]
    resources: NDArray[np.float64]
    """Each row is one suggestion: a price for each resource."""


def node_cost(table: Table, values: DualValues) -> NDArray[np.float64]:
    """The cost of one node of each offer, including what it takes from limits and minima."""
    cost = table.price + values.limits @ table.amounts - values.minima @ table.minimum_of
    return np.asarray(cost, dtype=np.float64)


def _affordable(table: Table, values: DualValues) -> DualValues:
    """The values with those of minima lowered until no empty node has a negative cost."""
    # A node with a negative cost counts as often as its offer allows in `lower_bound`, which would
    # make the bound useless.
    minima = values.minima.copy()
    for m, members in enumerate(table.minimum_of):
        cost = node_cost(table, replace(values, minima=minima))
        minima[m] = max(0.0, minima[m] + min(0.0, cost[members].min(initial=0.0)))
    return replace(values, minima=minima)


def most_value(table: Table, values: DualValues) -> NDArray[np.float64]:
    """For each offer, a value that no content of one node exceeds."""
    # With prices p for its resources, a content is worth at most p * capacity, plus for each unit
    # what its value exceeds p * size. That is true for any p >= 0, so the best suggestion counts.
    excess = np.maximum(values.units[None, :] - values.resources @ table.size.T, 0.0)
    excess *= np.minimum(table.per_node, table.demand)[None, :]
    if not table.classes:
        return np.zeros(table.offers)
    # Offers for the same classes have the same surplus. Comparing packed bits is faster.
    kind = numbered(np.packbits(table.allowed, axis=0).T)
    columns = table.allowed[:, np.unique(kind, return_index=True)[1]]
    surplus = excess @ columns
    base: NDArray[np.float64] = values.resources @ table.capacity.T
    best: NDArray[np.float64] = (base + surplus[:, kind]).min(axis=0)
    return np.minimum(best, _scaled(table, values, base=base, columns=columns, kind=kind))


def rents(table: Table, values: DualValues) -> NDArray[np.float64]:
    """What one node of each offer costs, counting what it is worth that there are no more of it.

    Room on a node that exists is free, but what is wasted of it has to be bought elsewhere. So such
    a node costs what its best content is worth. That of others is not worth more than their price.
    """
    worth = np.maximum(node_cost(table, values), most_value(table, values))
    return np.where(table.standing, worth, table.price.astype(np.float64))


def _scaled(
    table: Table,
    values: DualValues,
    *,
    base: NDArray[np.float64],
    columns: NDArray[np.bool_],
    kind: NDArray[np.intp],
) -> NDArray[np.float64]:
    """The same with each suggestion raised until no unit is worth more than its resources."""
    # Then there is no surplus, and p * capacity alone is the bound. This is better where many
    # units have a small surplus each, although only a few of them fit on a node.
    paid = values.resources @ table.size.T
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(values.units > 0, values.units[None, :] / paid, 0.0)
    factors = np.stack(
        [ratio[:, columns[:, s]].max(axis=1, initial=0.0) for s in range(columns.shape[1])], axis=1
    )
    # A base of 0 with an infinite factor is NaN. Such a suggestion proves nothing.
    with np.errstate(invalid="ignore"):
        scaled = base * factors[:, kind]
    return np.asarray(np.nan_to_num(scaled, nan=np.inf).min(axis=0))


def lower_bound(
    table: Table,
    values: DualValues,
    left: Mapping[int, int],
    most: NDArray[np.float64] | None = None,
) -> int:
    """A bound on the cost of all plans that leave out at most `left` pods of each priority."""
    worth, units = _counted(table, values.units, left)
    counted = _affordable(table, replace(values, units=units))
    held = most_value(table, counted) if most is None else most
    cost = node_cost(table, counted)
    copies = np.minimum(table.most, table.demand.sum() + table.minima.sum()).astype(np.float64)
    fixed = float(counted.minima @ table.minima - values.limits @ table.limits)
    # An offer with few copies may hold more value than it costs. A plan gains that surplus once for
    # each copy at most, so it is subtracted. Otherwise an existing node, which costs nothing,
    # would allow no values at all.
    best = max(
        scale * worth + fixed - float(copies @ np.maximum(scale * held - cost, 0.0))
        for scale in _scales(held, cost, table)
    )
    # Costs are integers: once the possible error is subtracted, the bound may be rounded up.
    slack = SAFETY * (worth + abs(fixed) + 1.0)
    return max(0, int(np.ceil(best - slack - 1e-6)))


def dearest_single(table: Table, left: Mapping[int, int]) -> int:
    """The price of the cheapest node for the most demanding class: a bound for very few pods.

    Each pod needs at least one node, and each class has a cheapest one.
    """
    if any(left.values()) or not table.classes:
        return 0
    return int(np.where(table.allowed, table.price[None, :], np.inf).min(axis=1).max())


def least_for_minima(table: Table) -> int:
    """The price of the cheapest nodes that the minima require: a bound for a plan without pods."""
    costs = []
    for members, count in zip(table.minimum_of, table.minima.tolist(), strict=True):
        left, cost = count, 0.0
        for o in np.flatnonzero(members)[np.argsort(table.price[members], kind="stable")].tolist():
            times = min(left, int(table.most[o]))
            cost += times * float(table.price[o])
            left -= times
        costs.append(cost)
    # One node may count for several minima.
    shared = bool((table.minimum_of.sum(axis=0) > 1).any())
    return int(max(costs, default=0.0) if shared else sum(costs))


def _scales(held: NDArray[np.float64], cost: NDArray[np.float64], table: Table) -> list[float]:
    """The factors on all values at which the bound can be highest; it is linear between them."""
    holding = held > 0
    if not holding.any():
        return [1.0]
    ratios = cost[holding] / held[holding]
    endless = ratios[(table.most[holding] >= ENDLESS) & (ratios > 0)]
    ceiling = float(endless.min()) if len(endless) else 1.0
    # Above the ceiling an unlimited offer holds more value than it costs, for every copy. Of the
    # factors below it only the largest are tried, to limit the work.
    below = np.unique(ratios[(ratios > 0) & (ratios < ceiling)])[-16:]
    return [ceiling, *(float(scale) for scale in below)]


def _counted(
    table: Table, units: NDArray[np.float64], left: Mapping[int, int]
) -> tuple[float, NDArray[np.float64]]:
    """The total value that must be placed, and the values without pods that may be left out.

    Let `top` be the highest priority of which pods are left out. A plan that is compared with this
    bound may leave out any pod of a lower priority, so these have no value. Of `top` it may leave
    out as many pods as `left` says, but which ones isn't known: the worst case is the dearest.
    """
    values = np.maximum(units, 0.0)
    missing = [priority for priority, count in left.items() if count]
    if not missing:
        return float(values @ table.demand), values
    top = max(missing)
    values = np.where(table.priority >= top, values, 0.0)
    tier = np.flatnonzero(table.priority == top)
    dearest = tier[np.argsort(-values[tier], kind="stable")]
    before = np.cumsum(table.demand[dearest]) - table.demand[dearest]
    skipped = np.clip(left[top] - before, 0, table.demand[dearest])
    return float(values @ table.demand - values[dearest] @ skipped), values
