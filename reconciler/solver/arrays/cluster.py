"""Many classes as few: classes that may use the same offers and are alike, taken together.

The relaxation grows with classes times offers, and beyond a few hundred classes would take longer
than all else. In a program of fractions a class is little more than a direction: how much memory it
asks for each core. So groups are halved along what their units differ most in, the group that would
be told most wrongly first, until there are enough of them. What comes back is given to every class
by its share; the bound stays true because it is computed from the real sizes, whatever the values.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table

ENOUGH = 120
"""So many classes make a program that is solved in a tenth of a second."""
OF_SIZE = 0.1
"""What a doubling of the size counts, where turning from all cpu to all memory counts one."""


def clusters(table: Table) -> NDArray[np.intp]:
    """For each class the number of its cluster; more than `ENOUGH` only where rules differ more."""
    rules = numbered(np.array([lots[0].allowed for lots in table.lots], dtype=np.bool_))
    numbers = numbered(np.stack([rules, table.priority], axis=1))
    groups = _Groups(*_features(table))
    for number in range(int(numbers.max(initial=-1)) + 1):
        groups.add(np.flatnonzero(numbers == number))
    groups.halve_until(ENOUGH)
    for number, group in enumerate(groups.found()):
        numbers[group] = number
    return numbers


def numbered(rows: NDArray[np.bool_] | NDArray[np.int64] | NDArray[np.uint8]) -> NDArray[np.intp]:
    """A number for each row; equal rows have the same (numpy's own way sorts whole rows)."""
    numbers: dict[bytes, int] = {}
    found = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
    return np.array(found, dtype=np.intp)


def _features(table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each class's direction and size as coordinates, and how much of everything it asks for."""
    shares = table.size / np.maximum(np.median(table.capacity, axis=0), 1.0)
    whole = np.maximum(shares.sum(axis=1), 1e-9)
    size = OF_SIZE * np.log2(whole)
    return np.hstack([shares / whole[:, None], size[:, None]]), whole * table.demand


class _Groups:
    """Groups of classes, the one that differs most within itself at hand."""

    def __init__(self, places: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        self._places = places
        self._weights = weights
        self._heap: list[tuple[float, int, int, float]] = []
        self._members: list[NDArray[np.intp]] = []

    def add(self, members: NDArray[np.intp]) -> None:
        """One more group."""
        places, weights = self._places[members], self._weights[members]
        middle = weights @ places / max(float(weights.sum()), 1e-12)
        differing = weights @ (places - middle) ** 2
        axis = int(differing.argmax())
        entry = (-float(differing[axis]), len(self._members), axis, float(middle[axis]))
        heapq.heappush(self._heap, entry)
        self._members.append(members)

    def halve_until(self, enough: int) -> None:
        """Halve the group that differs most, as long as there are too few and one differs."""
        while len(self._heap) < enough and self._heap and self._heap[0][0] < 0:
            _, number, axis, middle = heapq.heappop(self._heap)
            members = self._members[number]
            above = self._places[members, axis] > middle
            if above.all() or not above.any():  # they differ by a rounding error only
                heapq.heappush(self._heap, (0.0, number, axis, middle))
                continue
            self.add(members[~above])
            self.add(members[above])

    def found(self) -> list[NDArray[np.intp]]:
        """The groups as they are now."""
        return [self._members[number] for _, number, _, _ in sorted(self._heap)]


def clustered(table: Table, numbers: NDArray[np.intp]) -> Table:
    """The table with one class for each cluster, of the mean size of its units.

    It may use what most of its units may use: the largest of them alone would keep it from much.
    """
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    demand, weights = table.demand[order], table.demand[order, None].astype(np.float64)
    counts = np.add.reduceat(demand, starts)
    size = np.add.reduceat(table.size[order] * weights, starts)
    admitted = np.add.reduceat(table.allowed[order] * weights, starts)
    return replace(
        table.with_classes(order[starts]),
        demand=counts,
        size=size / np.maximum(counts, 1)[:, None],
        per_node=np.full(len(starts), float(2**40)),
        clashes=None,
        allowed=admitted >= 0.5 * counts[:, None],
    )
