"""From fractions to nodes: every node gets its slice of the mix that the relaxation found.

The relaxation says that an offer's nodes together hold certain units. Each node in turn receives
what keeps the sum so far closest to its share (error diffusion), then is topped up with whatever
is most behind its share. So no node eats the easy pods and leaves the awkward ones to the last.
What fractions of nodes are left is relaxed again, and the last few units are packed greedily.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Draft, Stock, draft_of, joined_drafts
from reconciler.solver.arrays.fill import divisors
from reconciler.solver.bound.relax import relax
from reconciler.solver.packing.tail import pack_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.relax import Relaxation
    from reconciler.solver.model.budget import Budget

ROUNDS = 4
DISTINCT = 128
"""Nodes of one offer that get contents of their own; beyond, several get the same."""
RARE = 0.25
"""Classes with this share of an offer's units may be too few for all of its equal nodes."""
MINUTE = 1e-9


def pack(table: Table, relaxation: Relaxation, budget: Budget) -> Draft:
    """A complete draft along a relaxation."""
    stock = Stock.of(table)
    left = table.demand.copy()
    drafts: list[Draft] = []
    answer: Relaxation | None = relaxation
    for _ in range(ROUNDS):
        if answer is None:
            break
        draft = _whole_nodes(table, answer, stock=stock, left=left)
        # Whole units come at once, the others one by one; each looks at all classes.
        steps = len(draft.times) * 4 + int(np.minimum(draft.counts, 1).sum())
        budget.spend(steps * (12 + 0.012 * table.classes))
        if not draft.nodes():
            break
        drafts.append(draft)
        if not left.any():
            break
        answer = relax(remaining(table, stock=stock, left=left), budget)
    drafts.append(pack_tail(table, relaxation.values, stock=stock, left=left, budget=budget))
    return joined_drafts(drafts)


def remaining(table: Table, *, stock: Stock, left: NDArray[np.int64]) -> Table:
    """The table of what is still to be placed with what is still to be had."""
    return replace(table, demand=left.copy(), most=stock.copies.copy(), limits=stock.limits.copy())


def _whole_nodes(
    table: Table, relaxation: Relaxation, *, stock: Stock, left: NDArray[np.int64]
) -> Draft:
    """The whole nodes among the fractions, filled; takes from the stock and from what is left."""
    rows: list[tuple[int, NDArray[np.int64], int]] = []
    free_first = np.argsort(~table.standing, kind="stable")
    for o in free_first.tolist():
        whole = stock.at_most(o, int(relaxation.nodes[o] + 1e-6))
        if not whole:
            continue
        mix = relaxation.units[:, o] / relaxation.nodes[o]
        for counts, times in _slices(table, o, mix=mix, whole=whole, left=left):
            rows.append((o, counts, times))
            stock.take(o, times)
    return draft_of(table, rows)


def _slices(
    table: Table, o: int, *, mix: NDArray[np.float64], whole: int, left: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], int]]:
    """Contents for all whole nodes of an offer; `left` is reduced by them."""
    sizes = divisors(table)
    due = np.zeros(table.classes)
    result = []
    for times in _batches(whole, alike=_alike(mix * whole)):
        due += mix
        counts = _one_node(table, o, due=due, most=left // times, sizes=sizes)
        if not counts.any():
            continue
        due -= counts
        left -= counts * times
        result.append((counts, times))
    return result


def _alike(units: NDArray[np.float64]) -> int:
    """How many equal nodes most of the units allow: few pods can't be on many of them."""
    numbers = np.sort(units[units > MINUTE])
    reached = np.cumsum(numbers)
    few = numbers[np.searchsorted(reached, RARE * reached[-1:])]
    return int(few.max(initial=1.0))


def _batches(whole: int, *, alike: int) -> list[int]:
    """How many equal nodes to make at once, so that the number of different ones is bounded."""
    distinct = max(min(whole, DISTINCT), -(-whole // alike))
    base, more = divmod(whole, distinct)
    return [base + 1] * more + [base] * (distinct - more)


def _one_node(
    table: Table,
    o: int,
    *,
    due: NDArray[np.float64],
    most: NDArray[np.int64],
    sizes: NDArray[np.float64],
) -> NDArray[np.int64]:
    """What is due, whole units first, then one unit of the class most behind, until full."""
    ceiling = np.where(table.allowed[:, o], np.minimum(most, table.per_node), 0.0)
    counts = np.minimum(np.floor(np.maximum(due, 0.0)), ceiling)
    room = table.capacity[o] + 0.5
    counts = _within(table, counts, room) if table.clashes is None else np.zeros_like(counts)
    room = room - counts @ table.size
    while True:
        open_ = (counts < ceiling) & (sizes <= room).all(axis=1)
        if table.clashes is not None:
            open_ &= ~(table.clashes[:, counts > 0].any(axis=1))
        if not open_.any():
            return counts.astype(np.int64)
        k = int(np.where(open_, due - counts, -np.inf).argmax())
        counts[k] += 1
        room = room - table.size[k]


def _within(
    table: Table, counts: NDArray[np.float64], room: NDArray[np.float64]
) -> NDArray[np.float64]:
    """As many whole classes of the wanted counts as have room together, the largest first."""
    used = np.cumsum(counts[:, None] * table.size, axis=0)
    return np.where((used <= room).all(axis=1), counts, 0.0)
