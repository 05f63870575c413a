"""Tries all sets of nodes if there are few nodes, the most promising sets first.

In a cluster with few nodes, one node more or less matters most, and there are few enough sets to
solve each of them exactly. A set is skipped if it can't beat the best one even at the lowest
possible cost of its pods.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.renewal.plan import engine, moving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.solver.model.budget import Budget
    from reconciler.solver.model.plan import Plan
    from reconciler.solver.renewal.field import Field

NODES = 10
"""Up to this many nodes, all sets are tried."""
TICKS = 40_000
"""The budget for one set: enough to prove the best plan for so few pods."""
EXACT = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A set of nodes to remove, and a plan for its pods."""

    goes: tuple[str, ...]
    plan: Plan
    gain: float


def best_of_all(field: Field, budget: Budget, *, beyond: float) -> Chosen | None:
    """The set that gains most, if it gains more than `beyond`."""
    best: Chosen | None = None
    for hope, nodes in sorted(_promising(field, beyond), key=lambda one: (-one[0], one[1])):
        if budget.over or hope <= (beyond if best is None else best.gain) + EXACT:
            break
        goes = tuple(field.places[field.first + i] for i in nodes)
        problem = moving(field.settled, goes)
        plan = engine(problem, budget, ticks=TICKS)
        gain = float(field.worth_going[list(nodes)].sum()) - plan.cost
        if not plan.unplaced and gain > (beyond if best is None else best.gain) + EXACT:
            best = Chosen(goes=goes, plan=plan, gain=gain)
    return best


def _promising(field: Field, beyond: float) -> Iterator[tuple[float, tuple[int, ...]]]:
    """The sets that may be removed, each with an upper limit on its gain."""
    every = range(len(field.holds))
    used = field.holds @ field.goods.size
    own = field.capacity[field.first :]
    free = field.capacity.sum(axis=0)
    rates = _rates(field)
    for nodes in chain.from_iterable(combinations(every, n + 1) for n in every):
        chosen = list(nodes)
        if (np.bincount(field.group[chosen], minlength=len(field.most)) > field.most).any():
            continue
        # Each resource that the other nodes lack must be bought, at its lowest price at least. One
        # node may bring several resources, so only the dearest of them counts.
        lacking = used[chosen].sum(axis=0) - (free - own[chosen].sum(axis=0))
        hope = float(field.worth_going[chosen].sum() - (np.maximum(lacking, 0) * rates).max())
        if hope > beyond + EXACT:
            yield hope, nodes


def _rates(field: Field) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The lowest price of a unit of each resource."""
    goods = field.goods
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(goods.capacity > 0, goods.price[:, None] / goods.capacity, np.inf)
    return np.asarray(np.nan_to_num(rates.min(axis=0, initial=np.inf), posinf=0.0))
