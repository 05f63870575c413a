"""Makes sizes equal that are nearly equal, when there are too many different pods.

Time and memory grow with classes times pods. When that is too much, lots are put into the cells of
a grid, which is made coarser until there are few enough cells. For packing, each lot is as large as
the largest in its cell, so that what is packed really fits (a lot that would then fit nowhere keeps
its size). For the bound, it is as small as the smallest, so that the bound stays true. A bound
takes less time than a plan, so its grid is finer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.cluster import numbered
from reconciler.solver.model.hopeless import placeable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.lots import Lot, OfferArrays

CLASSES_TIMES_PODS = 40_000_000
"""A problem of this size is packed in a second or two."""
PACKED = 1000
"""Up to this many classes keep their sizes, however many pods they have."""
BOUNDED = 10_000
"""The same for the bound."""
STEPS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 0.8, 1.5, 3.0, 9.0)
"""Widths of a cell, as logarithms."""
FINEST = 1 / 256
"""Differences below this share of the median offer hardly count."""


def to_pack(lots: Sequence[Lot], ground: OfferArrays) -> list[Lot]:
    """The lots for packing: none smaller than it is."""
    pods = sum(lot.count for lot in lots)
    cells = _cells(lots, ground, max(PACKED, CLASSES_TIMES_PODS // max(1, pods)))
    if cells is None:
        return list(lots)
    larger = _resized(lots, cells, np.maximum)
    fit = placeable(larger, ground)
    return [up if fits else lot for lot, up, fits in zip(lots, larger, fit, strict=True)]


def to_bound(lots: Sequence[Lot], ground: OfferArrays) -> list[Lot]:
    """The lots for the bound: none larger than it is."""
    cells = _cells(lots, ground, BOUNDED)
    return list(lots) if cells is None else _resized(lots, cells, np.minimum)


def _cells(lots: Sequence[Lot], ground: OfferArrays, most: int) -> NDArray[np.intp] | None:
    """Each lot's cell in the finest grid with few enough cells; None if no grid is needed."""
    if len(lots) <= most or not ground.offers or len({lot.key for lot in lots}) <= most:
        return None
    # The first part of a key is the size; lots that differ in anything else share no cell.
    rules: dict[tuple[object, ...], int] = {}
    kinds = np.array([rules.setdefault(lot.key[1:], len(rules)) for lot in lots])
    typical = np.maximum(np.median(ground.capacity, axis=0), 1.0)
    # On a log scale, cells are relative: 1 % of a large pod matters as much as 1 % of a small one.
    # The offset ends that for tiny amounts, and keeps the logarithm of 0 away.
    places = np.log(_sizes(lots) + typical * FINEST)
    cells = kinds
    for step in STEPS:
        grid = np.floor(places / step).astype(np.int64)
        cells = numbered(np.hstack([kinds[:, None], grid]))
        if int(cells.max()) < most:
            break
    return cells


def _sizes(lots: Sequence[Lot]) -> NDArray[np.int64]:
    return np.array([lot.requests for lot in lots], dtype=np.int64)


def _resized(lots: Sequence[Lot], cells: NDArray[np.intp], choose: np.ufunc) -> list[Lot]:
    """The lots with the largest or the smallest requests in their cell, as `choose` says."""
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    sizes = choose.reduceat(_sizes(lots)[order], starts)[cells].tolist()
    return [replace(lot, requests=tuple(row)) for lot, row in zip(lots, sizes, strict=True)]
