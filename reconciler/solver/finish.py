"""The last touch on a draft: each node as the cheapest offer that holds what is on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.draft import Draft, Stock
    from reconciler.solver.table import Table


def right_sized(table: Table, draft: Draft, stock: Stock) -> Draft:
    """Every row on the cheapest offer that may be had; the stock has the draft taken already."""
    draft = draft.rows(np.flatnonzero(draft.counts.any(axis=1)))
    if not len(draft.times):
        return draft
    offers = draft.offers.copy()
    sizes = draft.counts @ table.size
    blocked = (draft.counts > 0).astype(np.float32) @ (~table.allowed).astype(np.float32) > 0
    for row in range(len(offers)):
        offers[row] = _cheapest(
            table, stock, used=sizes[row], blocked=blocked[row], draft=draft, row=row
        )
    return replace(draft, offers=offers)


def _cheapest(
    table: Table,
    stock: Stock,
    *,
    used: NDArray[np.float64],
    blocked: NDArray[np.bool_],
    draft: Draft,
    row: int,
) -> int:
    """Gives the row's nodes back to the stock and takes them again as the best that fits."""
    own, times = int(draft.offers[row]), int(draft.times[row])
    fits = ~blocked & (table.price < table.price[own]) & (table.capacity >= used).all(axis=1)
    if not fits.any():
        return own
    stock.take(own, -times)
    for o in np.flatnonzero(fits)[np.argsort(table.price[fits], kind="stable")].tolist():
        if stock.at_most(o, times) == times:
            stock.take(o, times)
            return int(o)
    stock.take(own, times)
    return own
