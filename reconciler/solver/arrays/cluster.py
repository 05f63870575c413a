"""Clusters of classes: similar classes that may use the same offers count as one.

The relaxation grows with classes times offers. With more than a few hundred classes it would take
longer than everything else. With fractions, a class is little more than a ratio, such as memory per
core. So the classes are split again and again, along what differs most within a group, until there
are enough groups. The result for a group is divided among its classes by their demand. The bound
stays true, because it is computed from the real sizes, whatever the values are.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.dimensions import ENDLESS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table

ENOUGH = 120
"""A linear program with this many classes is solved in a tenth of a second."""
OF_SIZE = 0.1
"""The weight of a doubled size, where a change from only CPU to only memory weighs 1."""


def clusters(table: Table) -> NDArray[np.intp]:
    """Each class's cluster as a number; more than `ENOUGH` only if there are more sets of rules."""
    # Not `table.allowed`: that already lacks the offers that are too small for a class, so classes
    # of one selector but of different sizes would never share a cluster.
    rules = numbered(np.array([lots[0].allowed for lots in table.lots], dtype=np.bool_))
    # The penalty for an unplaced unit depends on the priority, so a cluster has only one.
    numbers = numbered(np.stack([rules, table.priority], axis=1))
    groups = _Groups(*_features(table))
    for number in range(int(numbers.max(initial=-1)) + 1):
        groups.add(np.flatnonzero(numbers == number))
    groups.halve_until(ENOUGH)
    for number, group in enumerate(groups.found()):
        numbers[group] = number
    return numbers


def numbered(rows: NDArray[np.bool_] | NDArray[np.int64] | NDArray[np.uint8]) -> NDArray[np.intp]:
    """A number for each row, the same for equal rows; `np.unique` would sort whole rows."""
    numbers: dict[bytes, int] = {}
    found = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
    return np.array(found, dtype=np.intp)


def _features(table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ratios and size of each class as coordinates, and its total request as a weight."""
    shares = table.size / np.maximum(np.median(table.capacity, axis=0), 1.0)
    whole = np.maximum(shares.sum(axis=1), 1e-9)
    size = OF_SIZE * np.log2(whole)
    return np.hstack([shares / whole[:, None], size[:, None]]), whole * table.demand


class _Groups:
    """Groups of classes in a heap, the group with the largest differences on top."""

    def __init__(self, places: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        self._places = places
        self._weights = weights
        self._heap: list[tuple[float, int, int, float]] = []
        self._members: list[NDArray[np.intp]] = []

    def add(self, members: NDArray[np.intp]) -> None:
        """Add a group."""
        places, weights = self._places[members], self._weights[members]
        middle = weights @ places / max(float(weights.sum()), 1e-12)
        differing = weights @ (places - middle) ** 2
        axis = int(differing.argmax())
        entry = (-float(differing[axis]), len(self._members), axis, float(middle[axis]))
        heapq.heappush(self._heap, entry)
        self._members.append(members)

    def halve_until(self, enough: int) -> None:
        """Split the group with the largest differences until there are enough or none differs."""
        while len(self._heap) < enough and self._heap and self._heap[0][0] < 0:
            _, number, axis, middle = heapq.heappop(self._heap)
            members = self._members[number]
            above = self._places[members, axis] > middle
            if above.all() or not above.any():  # they differ only by a rounding error
                heapq.heappush(self._heap, (0.0, number, axis, middle))
                continue
            self.add(members[~above])
            self.add(members[above])

    def found(self) -> list[NDArray[np.intp]]:
        """The current groups."""
        return [self._members[number] for _, number, _, _ in sorted(self._heap)]


def clustered(table: Table, numbers: NDArray[np.intp]) -> Table:
    """The table with one class for each cluster, with the mean size of its units.

    It may use the offers that most of its units may use. If it had to be all of them, its largest
    unit would exclude many offers.
    """
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    demand, weights = table.demand[order], table.demand[order, None].astype(np.float64)
    counts = np.add.reduceat(demand, starts)
    size = np.add.reduceat(table.size[order] * weights, starts)
    admitted = np.add.reduceat(table.allowed[order] * weights, starts)
    # Limits per node and clashes differ within a cluster, so they are dropped. That makes the
    # program looser; the bound doesn't use it directly.
    return replace(
        table.with_classes(order[starts]),
        demand=counts,
        size=size / np.maximum(counts, 1)[:, None],
        per_node=np.full(len(starts), float(ENDLESS)),
        clashes=None,
        allowed=admitted >= 0.5 * counts[:, None],
    )
