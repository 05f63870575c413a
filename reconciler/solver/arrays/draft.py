"""An unfinished plan as arrays over a table: each row is a number of equal nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Row p is `times[p]` nodes of offer `offers[p]`, each with `counts[p]` units."""

    offers: NDArray[np.intp]
    counts: NDArray[np.int64]
    times: NDArray[np.int64]

    def placed(self) -> NDArray[np.int64]:
        """The number of units of each class that have a node."""
        return np.asarray(self.times @ self.counts)

    def nodes(self) -> int:
        """The number of nodes."""
        return int(self.times.sum())

    def rows(self, kept: NDArray[np.intp] | NDArray[np.bool_]) -> Draft:
        """Some of the rows."""
        return Draft(offers=self.offers[kept], counts=self.counts[kept], times=self.times[kept])

    def singles(self) -> Draft:
        """The same draft with one row for each node."""
        offers, counts = np.repeat(self.offers, self.times), np.repeat(self.counts, self.times, 0)
        return Draft(offers=offers, counts=counts, times=np.ones(len(offers), dtype=np.int64))


def draft_of(table: Table, rows: Sequence[tuple[int, NDArray[np.int64], int]]) -> Draft:
    """A draft of rows (offer, units, number of such nodes)."""
    return Draft(
        offers=np.array([offer for offer, _, _ in rows], dtype=np.intp),
        counts=np.array([counts for _, counts, _ in rows], dtype=np.int64).reshape(
            len(rows), table.classes
        ),
        times=np.array([times for _, _, times in rows], dtype=np.int64),
    )


def joined_drafts(drafts: Sequence[Draft]) -> Draft:
    """The rows of several drafts as one draft."""
    return Draft(
        offers=np.concatenate([draft.offers for draft in drafts]),
        counts=np.concatenate([draft.counts for draft in drafts]),
        times=np.concatenate([draft.times for draft in drafts]),
    )


def missing_by_priority(table: Table, draft: Draft) -> dict[int, int]:
    """The number of pods of each priority that a draft leaves out."""
    missing: dict[int, int] = {}
    counts = table.demand - draft.placed()
    for k in np.flatnonzero(counts).tolist():
        own = int(table.priority[k])
        missing[own] = missing.get(own, 0) + int(counts[k]) * table.pods_in(k)
    return missing


def rank(table: Table, draft: Draft) -> tuple[tuple[tuple[int, int], ...], float, int]:
    """How drafts are compared: by unplaced pods, then by cost, then by the number of nodes."""
    missing = tuple(sorted(missing_by_priority(table, draft).items(), reverse=True))
    return missing, float(table.price[draft.offers] @ draft.times), draft.nodes()


@dataclass(slots=True)
class Stock:
    """What can still be bought while nodes are added: copies of offers, and the rest of limits."""

    table: Table
    copies: NDArray[np.int64]
    limits: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table, draft: Draft | None = None) -> Stock:
        """What a table allows, minus what a draft uses."""
        used = np.zeros(table.offers, dtype=np.int64)
        if draft is not None:
            np.add.at(used, draft.offers, draft.times)
        return cls(table, table.most - used, table.limits - table.amounts @ used)

    def available(self) -> NDArray[np.bool_]:
        """The offers of which another node can be bought."""
        within = (self.table.amounts <= self.limits[:, None]).all(axis=0)
        return np.asarray(within & (self.copies > 0))

    def at_most(self, o: int, wanted: int) -> int:
        """How many of the wanted nodes of an offer can be bought."""
        amounts = self.table.amounts[:, o]
        used = amounts > 0
        room = np.floor(self.limits[used] / amounts[used]).min(initial=float(wanted))
        return int(max(0, min(wanted, int(self.copies[o]), int(room))))

    def take(self, o: int, times: int) -> None:
        """Take nodes of an offer; a negative number gives them back."""
        self.copies[o] -= times
        self.limits -= self.table.amounts[:, o] * times
