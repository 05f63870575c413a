"""Solves problems with few pods per node exactly: the cheapest contents that cover all pods.

A plan that is cheaper than the best known one has no content that wastes more than the difference
between that cost and the bound. If pods are large, all contents that waste less can be listed. The
choice among them is an integer program that is short, has no symmetry, and is close to its linear
relaxation. Its optimum is the best plan; if it has no solution, the known plan is the best. None of
this holds if pods are left out or a rule spans several nodes, so these problems are skipped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import draft_of
from reconciler.solver.bound.bound import SAFETY, most_value
from reconciler.solver.bound.contents import NodeContents, full_contents
from reconciler.solver.bound.integer import Ending, IntegerProgram
from reconciler.solver.bound.master import Master
from reconciler.solver.bound.prove import Proof

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.draft import Draft
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.bound import DualValues
    from reconciler.solver.model.budget import Budget

PODS = 400
"""With more pods than this, a choice among contents isn't proven in time."""
TICKS_EACH = 150
"""The ticks per content that a choice needs at least; with fewer it isn't started."""


def cover(table: Table, values: DualValues, *, cost: int, budget: Budget) -> Proof | None:
    """The best plan that places all pods for less than `cost`, or the proof that there is none."""
    # A content says nothing about other nodes, so rules over several nodes and nodes that stay
    # empty for a minimum can't be expressed.
    if int(table.demand.sum()) > PODS or len(table.minima) or _bind(table):
        return None
    found = _within(table, values, cost=cost, budget=budget)
    if found is None or not 0 < len(found.offers) * TICKS_EACH < budget.left:
        return None
    return _chosen(table, _worthwhile(table, found, cost, budget), cost=cost, budget=budget)


def _bind(table: Table) -> bool:
    """Whether a rule spans several nodes."""
    return any(lots[0].bonds for lots in table.lots)


def _within(table: Table, values: DualValues, *, cost: int, budget: Budget) -> NodeContents | None:
    """All contents that a plan cheaper than `cost` can use."""
    held = most_value(table, values)
    endless = (table.most >= int(table.demand.sum())) & (held > 0)
    if not endless.any():
        return None
    # The values are scaled so that no node of an unlimited offer holds more than it costs. Then the
    # cost of a plan is the sum of all values plus the waste of each of its nodes. Nodes of limited
    # offers may hold more: their surplus lowers the bound, once for each copy.
    scale = float((table.price[endless] / held[endless]).min())
    fair = replace(values, units=values.units * scale, resources=values.resources * scale)
    surplus = np.where(endless, 0.0, np.maximum(held * scale - table.price, 0.0))
    copies = np.minimum(table.most, table.demand.sum()).astype(np.float64)
    bound = float(fair.units @ table.demand) - float(copies @ surplus)
    return full_contents(table, fair, table.price + surplus - (cost - bound), budget)


def _worthwhile(table: Table, found: NodeContents, cost: int, budget: Budget) -> NodeContents:
    """The contents that also pass with the better prices of the linear program over all of them."""
    master = Master(table, budget)
    for o, counts in zip(found.offers.tolist(), found.counts, strict=True):
        master.add(o, counts)
    budget.spend(20 * len(found.offers))
    if not master.solve():
        return found
    units, price = master.prices()
    waste = price[found.offers] - found.counts @ units
    # The values come from a program with rounding errors, so what they prove is computed again. A
    # cheaper plan has these contents only, at most one for each unit; its cost is all values and
    # prices of limits, plus the waste of each of its nodes. So no node wastes more than is left.
    total = float(units @ table.demand)
    negative = float(table.demand.sum()) * min(0.0, float(waste.min(initial=0.0)))
    bound = total - master.paid_for_limits() + negative
    spare = cost - bound + SAFETY * (total + abs(bound) + cost + 1.0)
    return _undominated(table, found.rows(np.flatnonzero(waste <= spare)))


def _undominated(table: Table, found: NodeContents) -> NodeContents:
    """The contents that aren't part of a larger one on a node that costs no more."""
    # The larger content must be on an unlimited offer, or there may be too few nodes of it.
    price, amounts = table.price[found.offers], table.amounts[:, found.offers]
    endless = table.most[found.offers] >= int(table.demand.sum())
    kept = np.ones(len(price), dtype=np.bool_)
    for p in range(len(price)):
        better = (
            kept & endless & (price <= price[p]) & (found.counts >= found.counts[p]).all(axis=1)
        )
        better &= (amounts <= amounts[:, [p]]).all(axis=0)
        better[p] = False
        kept[p] = not better.any()
    return found.rows(np.flatnonzero(kept))


def _chosen(table: Table, found: NodeContents, *, cost: int, budget: Budget) -> Proof | None:
    """The cheapest choice of contents."""
    # Contents may cover more pods than there are, so that full contents suffice; `_draft` takes
    # the surplus out again.
    program = IntegerProgram(relaxed=2)
    most = np.minimum(table.most, table.demand.sum())[found.offers]
    nodes = [program.variable(0, int(n)) for n in most.tolist()]
    for k, n in enumerate(table.demand.tolist()):
        program.hold(zip(nodes, found.counts[:, k].tolist(), strict=True), low=n)
    for o in np.flatnonzero(table.most < int(table.demand.sum())).tolist():
        own = [node for node, p in zip(nodes, found.offers.tolist(), strict=True) if p == o]
        program.hold([(node, 1) for node in own], high=int(table.most[o]))
    for row, limit in zip(table.amounts, table.limits.tolist(), strict=True):
        amounts = row[found.offers].astype(np.int64).tolist()
        program.hold(zip(nodes, amounts, strict=True), high=int(limit))
    prices = table.price[found.offers].astype(np.int64).tolist()
    total = list(zip(nodes, prices, strict=True))
    # Strictly cheaper: then having no solution proves that the known plan is optimal.
    program.hold(total, high=cost - 1)
    program.minimise(total)
    answer = program.solve(budget.left, budget.seconds_left)
    budget.spend(300 + len(nodes) * (2 + 0.3 * table.classes) + answer.ticks)
    return _proof(table, found, answer.ending, answer.values, cost=cost, bound=answer.bound)


def _proof(
    table: Table,
    found: NodeContents,
    ending: Ending,
    values: list[int],
    *,
    cost: int,
    bound: float,
) -> Proof:
    """What the ending proves: without a solution, the best known plan is optimal."""
    match ending:
        case Ending.IMPOSSIBLE:
            return Proof(draft=None, optimal=True, bound=cost)
        case Ending.UNKNOWN:
            return Proof(draft=None, optimal=False, bound=0)
        case Ending.OPTIMAL | Ending.FEASIBLE:
            draft = _draft(table, found, np.array(values, dtype=np.int64))
            optimal = ending is Ending.OPTIMAL
            least = min(cost, round(bound))
            return Proof(draft=draft, optimal=optimal, bound=least)


def _draft(table: Table, found: NodeContents, times: NDArray[np.int64]) -> Draft:
    """The chosen nodes, with each pod on only one of them."""
    left = table.demand.copy()
    rows = []
    for p in np.repeat(np.arange(len(times)), times).tolist():
        counts = np.minimum(found.counts[p], left)
        left -= counts
        if counts.any():
            rows.append((int(found.offers[p]), counts, 1))
    return draft_of(table, rows)
