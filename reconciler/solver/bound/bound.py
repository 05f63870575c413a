"""What no plan can undercut: a lower bound that is true whatever prices it is computed from.

Give each unit of a class a value. If no node can hold more value than it costs, all plans together
cost at least the value of all units (Farley's bound). How much value one node can hold is itself
bounded from above by prices on the node's resources (Lagrange). Better values and better prices
give a better bound; bad ones give a weak but still true one. So the floats of a linear program may
be wrong in any digit without harm: they only suggest the values, and the sum is rounded down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.cluster import numbered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table

SAFETY = 1e-9
"""Relative error that the sums below may carry: several thousand times what doubles leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DualValues:
    """What a unit of each class is worth, what limits and minima are worth, what resources cost."""

    units: NDArray[np.float64]
    limits: NDArray[np.float64]
    minima: NDArray[np.float64]
    resources: NDArray[np.float64]
    """One row per suggestion, one price per resource."""


def node_cost(table: Table, values: DualValues) -> NDArray[np.float64]:
    """What one node of each offer costs, its share of limits and minima included."""
    cost = table.price + values.limits @ table.amounts - values.minima @ table.minimum_of
    return np.asarray(cost, dtype=np.float64)


def _affordable(table: Table, values: DualValues) -> DualValues:
    """Values of minima lowered until no node is worth buying for a minimum alone."""
    minima = values.minima.copy()
    for m, members in enumerate(table.minimum_of):
        cost = node_cost(table, replace(values, minima=minima))
        minima[m] = max(0.0, minima[m] + min(0.0, cost[members].min(initial=0.0)))
    return replace(values, minima=minima)


def most_value(table: Table, values: DualValues) -> NDArray[np.float64]:
    """For each offer, a value that no content of one node exceeds."""
    excess = np.maximum(values.units[None, :] - values.resources @ table.size.T, 0.0)
    excess *= np.minimum(table.per_node, table.demand)[None, :]
    if not table.classes:
        return np.zeros(table.offers)
    # Offers that are allowed to the same classes are of one kind; packed bits are compared quicker.
    kind = numbered(np.packbits(table.allowed, axis=0).T)
    columns = table.allowed[:, np.unique(kind, return_index=True)[1]]
    surplus = excess @ columns
    base: NDArray[np.float64] = values.resources @ table.capacity.T
    best: NDArray[np.float64] = (base + surplus[:, kind]).min(axis=0)
    return np.minimum(best, _scaled(table, values, base=base, columns=columns, kind=kind))


def _scaled(
    table: Table,
    values: DualValues,
    *,
    base: NDArray[np.float64],
    columns: NDArray[np.bool_],
    kind: NDArray[np.intp],
) -> NDArray[np.float64]:
    """The same with each suggestion raised until no unit is worth more than its resources."""
    paid = values.resources @ table.size.T
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(values.units > 0, values.units[None, :] / paid, 0.0)
    factors = np.stack(
        [ratio[:, columns[:, s]].max(axis=1, initial=0.0) for s in range(columns.shape[1])], axis=1
    )
    with np.errstate(invalid="ignore"):
        scaled = base * factors[:, kind]
    return np.asarray(np.nan_to_num(scaled, nan=np.inf).min(axis=0))


def lower_bound(
    table: Table,
    values: DualValues,
    left: Mapping[int, int],
    most: NDArray[np.float64] | None = None,
) -> int:
    """A cost below which no plan goes that leaves out no more than `left`, by priority."""
    worth, units = _counted(table, values.units, left)
    counted = _affordable(table, replace(values, units=units))
    held = most_value(table, counted) if most is None else most
    cost = node_cost(table, counted)
    copies = np.minimum(table.most, table.demand.sum() + table.minima.sum()).astype(np.float64)
    fixed = float(counted.minima @ table.minima - values.limits @ table.limits)
    best = max(
        scale * worth + fixed - float(copies @ np.maximum(scale * held - cost, 0.0))
        for scale in _scales(held, cost, table)
    )
    slack = SAFETY * (worth + abs(fixed) + 1.0)
    return max(0, int(np.ceil(best - slack - 1e-6)))


def dearest_single(table: Table, left: Mapping[int, int]) -> int:
    """Whoever must be placed needs one node at least: a bound where there is little to place."""
    if any(left.values()) or not table.classes:
        return 0
    return int(np.where(table.allowed, table.price[None, :], np.inf).min(axis=1).max())


def _scales(held: NDArray[np.float64], cost: NDArray[np.float64], table: Table) -> list[float]:
    """Factors on all values at which the bound may be best: it is linear between them."""
    holding = held > 0
    if not holding.any():
        return [1.0]
    ratios = cost[holding] / held[holding]
    endless = ratios[(table.most[holding] >= 2**40) & (ratios > 0)]
    ceiling = float(endless.min()) if len(endless) else 1.0
    below = np.unique(ratios[(ratios > 0) & (ratios < ceiling)])[-16:]
    return [ceiling, *(float(scale) for scale in below)]


def _counted(
    table: Table, units: NDArray[np.float64], left: Mapping[int, int]
) -> tuple[float, NDArray[np.float64]]:
    """The value that must be placed, and the values without those who need not be placed.

    Who is less important than the most important one left out may be left out too; of that one's
    own priority as many may as are, and nobody knows which: the dearest are taken off.
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
