"""Filling nodes greedily: many nodes at once, one class after another.

The same few array operations serve everything that packs: each row is a node (or a candidate), each
row has its own order of classes, and at each place in the order every row takes as many units of
its class as it can. Resources come first in the arrays, because numpy is slow along short rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table

NOTHING = 1e-270
"""Stands for a request of zero in a division: half a unit of free room is endless room for it,
and a petabyte of free bytes isn't yet more than a number can be."""


def divisors(table: Table) -> NDArray[np.float64]:
    """Sizes to divide by."""
    return np.where(table.size > 0, table.size, NOTHING)


def fill(
    *,
    free: NDArray[np.float64],
    order: NDArray[np.intp],
    ceiling: NDArray[np.float64],
    sizes: NDArray[np.float64],
    clashes: NDArray[np.bool_] | None,
) -> NDArray[np.int64]:
    """Units of each class that go to each row, in the row's order, up to `ceiling[row, class]`.

    Free amounts are integers, so half a unit more changes no quotient and makes zero by zero safe.
    """
    rows = np.arange(len(free))
    counts = np.zeros(ceiling.shape)
    room = np.ascontiguousarray(free.T) + 0.5
    by_resource = np.ascontiguousarray(sizes.T)
    places = np.ascontiguousarray(order.T)
    ceilings = ceiling[rows[:, None], order].T.copy()
    for k, most in zip(places, ceilings, strict=True):
        size = by_resource[:, k]
        taken = np.floor(np.minimum((room / size).min(axis=0), most))
        if clashes is not None:
            taken = np.where((clashes[k] & (counts > 0)).any(axis=1), 0.0, taken)
        counts[rows, k] = taken
        room -= taken * size
    return counts.astype(np.int64)
