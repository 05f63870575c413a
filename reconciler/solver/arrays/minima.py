"""Opens the nodes that minima require before packing, as capacity without a further cost.

Their cost is sunk: it is part of the plan's cost, but must not influence packing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Stock, draft_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table


def with_minima_opened(table: Table) -> tuple[Table, NDArray[np.int64]]:
    """The table with the cheapest nodes for each minimum as free nodes, and how many there are."""
    # A node may count for several minima, so what is open already is counted for each of them.
    stock = Stock.of(table, draft_of(table, []))
    opened: dict[int, int] = {}
    # The cheapest nodes of each minimum in turn can cost more than needed where minima overlap. The
    # exact program keeps minima as rows, and finds the better choice in small problems.
    for members, count in zip(table.minimum_of, table.minima.tolist(), strict=True):
        missing = count - sum(times for o, times in opened.items() if members[o])
        for o in np.flatnonzero(members)[np.argsort(table.price[members], kind="stable")].tolist():
            times = stock.at_most(o, missing)
            if times > 0:
                stock.take(o, times)
                opened[o] = opened.get(o, 0) + times
                missing -= times
    reached = [sum(n for o, n in opened.items() if members[o]) for members in table.minimum_of]
    return _extended(table, stock, opened), np.array(reached, dtype=np.int64)


def _extended(table: Table, stock: Stock, opened: dict[int, int]) -> Table:
    rows = sorted(opened)
    every = np.concatenate([np.arange(table.offers), np.array(rows, dtype=np.intp)])
    wide = table.with_offers(every)
    price, amounts, sunk = wide.price.copy(), wide.amounts.copy(), wide.sunk.copy()
    standing = wide.standing.copy()
    standing[table.offers :] = True
    price[table.offers :] = 0.0
    amounts[:, table.offers :] = 0.0
    sunk[table.offers :] = table.price[rows]
    copies = np.array([opened[o] for o in rows], dtype=np.int64)
    return replace(
        wide,
        price=price,
        amounts=amounts,
        sunk=sunk,
        standing=standing,
        most=np.concatenate([stock.copies, copies]),
        limits=stock.limits,
        minima=np.zeros(0, dtype=np.int64),
        minimum_of=np.zeros((0, len(every)), dtype=np.bool_),
    )
