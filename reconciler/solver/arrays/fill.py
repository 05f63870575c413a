"""Fills nodes greedily: many nodes at once, one class after another.

All packing uses these few array operations. Each row is a node (or a candidate) with its own order
of classes; in each round, each row takes as many units of its next class as it can. Resources are
the first axis of the arrays, because numpy is slow along short rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table

NOTHING = 1e-270
"""Replaces a request of zero in a division. Half a unit of room divided by it is practically
infinite, and a petabyte in bytes divided by it is still below the largest float."""


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
    """The units of each class for each row, in the row's order, up to `ceiling[row, class]`."""
    rows = np.arange(len(free))
    counts = np.zeros(ceiling.shape)
    # Amounts are integers, so half a unit more changes no rounded quotient. It absorbs the rounding
    # errors of the division, and makes zero divided by (nearly) zero a large number.
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
