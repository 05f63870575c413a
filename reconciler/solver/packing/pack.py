"""From fractions to nodes: each node gets a slice of the mix that the relaxation found.

In the relaxation, all nodes of an offer together hold certain units. Each node in turn gets what
keeps the total so far closest to its share (error diffusion), and is then filled with the classes
that are furthest behind. So the first nodes don't use up the easy pods and leave the difficult ones
to the last. The remaining fractions of nodes are relaxed again, and the last units packed greedily.
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
"""The most different contents for nodes of one offer; with more nodes, several get the same."""
RARE = 0.25
"""The rarest classes with this share of an offer's units may be missing on some equal nodes."""
MINUTE = 1e-9
"""A smaller fraction of a unit is a rounding error."""


def pack(table: Table, relaxation: Relaxation, budget: Budget) -> Draft:
    """A complete draft that follows a relaxation."""
    stock = Stock.of(table)
    left = table.demand.copy()
    drafts: list[Draft] = []
    answer: Relaxation | None = relaxation
    for _ in range(ROUNDS):
        if answer is None:
            break
        draft = _whole_nodes(table, answer, stock=stock, left=left)
        # The work: each step looks at all classes. Whole units take one step per node together,
        # the others one step each.
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
    """The table with what is still to be placed and what can still be bought."""
    return replace(table, demand=left.copy(), most=stock.copies.copy(), limits=stock.limits.copy())


def _whole_nodes(
    table: Table, relaxation: Relaxation, *, stock: Stock, left: NDArray[np.int64]
) -> Draft:
    """The whole nodes of a relaxation, filled; reduces `stock` and `left`."""
    rows: list[tuple[int, NDArray[np.int64], int]] = []
    # Existing nodes are free, so they are filled before any that must be bought.
    free_first = np.argsort(~table.standing, kind="stable")
    for o in free_first.tolist():
        # Fractions have rounding errors: 2.9999999 nodes are 3.
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
    """The contents of all whole nodes of an offer; reduces `left`."""
    sizes = divisors(table)
    due = np.zeros(table.classes)
    result = []
    for times in _batches(whole, alike=_alike(mix * whole)):
        due += mix
        # `times` nodes get this content, so each may take only its share of what is left.
        counts = _one_node(table, o, due=due, most=left // times, sizes=sizes)
        if not counts.any():
            continue
        due -= counts
        left -= counts * times
        result.append((counts, times))
    return result


def _alike(units: NDArray[np.float64]) -> int:
    """How many nodes may have the same content: a class with few units can't be on many nodes."""
    numbers = np.sort(units[units > MINUTE])
    reached = np.cumsum(numbers)
    few = numbers[np.searchsorted(reached, RARE * reached[-1:])]
    return int(few.max(initial=1.0))


def _batches(whole: int, *, alike: int) -> list[int]:
    """The sizes of groups of equal nodes, so that there are few different contents."""
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
    """The units that are due, then one unit after another of the class furthest behind."""
    ceiling = np.where(table.allowed[:, o], np.minimum(most, table.per_node), 0.0)
    counts = np.minimum(np.floor(np.maximum(due, 0.0)), ceiling)
    room = table.capacity[o] + 0.5
    # With clashes even the units that are due must be checked one by one.
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
    """The wanted counts of the largest classes, as long as they fit together; 0 for the others."""
    used = np.cumsum(counts[:, None] * table.size, axis=0)
    return np.where((used <= room).all(axis=1), counts, 0.0)
