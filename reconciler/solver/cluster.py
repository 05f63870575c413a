"""Many classes as few: classes that may use the same offers and are about as large, taken together.

The relaxation grows with classes times offers, and beyond a few hundred classes would take longer
than all else. Sizes on a logarithmic grid lose next to nothing in a program of fractions. What
comes back is given to every class by its share; the bound stays true because it is computed from
the real sizes, whatever the values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.table import Table

ENOUGH = 180
"""So many classes make a program that is solved in a tenth of a second."""


def clusters(table: Table) -> NDArray[np.intp]:
    """For each class the number of its cluster; at most about `ENOUGH` of them where it can be."""
    step = 0.2
    logs = np.log2(table.size + 1.0)
    fixed = _numbered(table.allowed).reshape(-1, 1)
    kinds = np.hstack([fixed, table.priority.reshape(-1, 1)])
    while True:
        grid = np.hstack([kinds, np.round(logs / step).astype(np.int64)])
        numbers = _numbered(grid)
        if int(numbers.max(initial=0)) < ENOUGH or step > 8.0:
            return numbers
        step *= 1.3


def _numbered(rows: NDArray[np.bool_] | NDArray[np.int64]) -> NDArray[np.intp]:
    """A number for each row; equal rows have the same (numpy's own way sorts whole rows)."""
    numbers: dict[bytes, int] = {}
    found = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
    return np.array(found, dtype=np.intp)


def clustered(table: Table, numbers: NDArray[np.intp]) -> Table:
    """The table with one class for each cluster, of the mean size of its units."""
    count = int(numbers.max(initial=-1)) + 1
    demand = np.bincount(numbers, weights=table.demand, minlength=count)
    size = np.zeros((count, table.size.shape[1]))
    np.add.at(size, numbers, table.size * table.demand[:, None])
    firsts = np.unique(numbers, return_index=True)[1]
    return replace(
        table.with_classes(firsts),
        demand=demand.astype(np.int64),
        size=size / np.maximum(demand, 1.0)[:, None],
        per_node=np.full(count, float(2**40)),
        clashes=None,
    )
