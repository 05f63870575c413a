"""Removes offers that can't be the best choice, and merges equal offers into one with more copies.

An offer is dominated by another one that is unlimited, holds at least as much of each resource,
costs no more, takes no more from any limit, and is allowed for all classes that may use the first.
With a typical price list a third of the offers remains; with exactly linear prices, nearly all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.dimensions import ENDLESS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table


def reduce_offers(table: Table) -> Table:
    """The table without offers that can't matter."""
    wanted = table.allowed.any(axis=0) | table.minimum_of.any(axis=0)
    merged = _merge_equal(table.with_offers(np.flatnonzero(wanted & (table.most > 0))))
    return merged.with_offers(np.flatnonzero(~_dominated(merged)))


def _merge_equal(table: Table) -> Table:
    groups: dict[bytes, list[int]] = {}
    for o in range(table.offers):
        groups.setdefault(_content(table, o), []).append(o)
    firsts = np.array([same[0] for same in groups.values()], dtype=np.intp)
    names = tuple(tuple(name for o in same for name in table.names[o]) for same in groups.values())
    most = np.array(
        [min(ENDLESS, int(table.most[same].sum())) for same in groups.values()], dtype=np.int64
    )
    return replace(table.with_offers(firsts), names=names, most=most)


def _content(table: Table, o: int) -> bytes:
    parts = (table.capacity[o], table.price[o], table.allowed[:, o], table.amounts[:, o])
    return b"".join(
        part.tobytes()
        for part in (*parts, table.minimum_of[:, o], table.standing[o], table.place[o])
    )


def _dominated(table: Table) -> NDArray[np.bool_]:
    """Compares each offer with all others; of two that dominate each other the first one stays."""
    endless = table.most >= ENDLESS
    gone = np.zeros(table.offers, dtype=np.bool_)
    within = allowed_within(table.allowed)
    # An offer that is gone already is left out: whatever dominates it dominates this one too.
    for o in range(table.offers):
        # Only an unlimited offer can stand in for another: of a limited one there may be none left.
        better = endless & ~gone & (table.price <= table.price[o])
        better &= (table.capacity >= table.capacity[o]).all(axis=1)
        better &= (table.amounts <= table.amounts[:, [o]]).all(axis=0)
        better &= (table.minimum_of >= table.minimum_of[:, [o]]).all(axis=0)
        # While the domain of a group is open, its pods may need exactly this zone.
        better &= table.place == table.place[o]
        better[o] = False
        # A new node that costs nothing would otherwise replace nodes that exist.
        gone[o] = not table.standing[o] and bool((better & within[o]).any())
    return gone


def allowed_within(allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each pair of offers, whether all classes that may use the first may use the second."""
    # Counts are exact in these floats, and a matrix product is much faster than comparing rows.
    beyond = allowed.T.astype(np.float32) @ (~allowed).astype(np.float32)
    return np.asarray(beyond == 0)
