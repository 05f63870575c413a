"""Very many different pods as fewer: sizes that are nearly equal become equal.

Time and memory grow with classes times pods. Beyond what a quick answer has time for, lots are put
into the cells of a grid, which is made coarser until there are few enough of them. For packing each
lot is as large as the largest of its cell, so what is packed really fits (a lot that would fit
nowhere then stays as it is); for the bound it is as small as the smallest, so no plan undercuts it.
A bound takes less time than a plan, so it has the finer grid.
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
"""What is packed in a second or two."""
PACKED = 1000
"""So many classes are packed one by one, however many pods they have."""
BOUNDED = 10_000
STEPS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 0.8, 1.5, 3.0, 9.0)
"""Widths of a cell, as logarithms."""
FINEST = 1 / 256
"""Amounts below this share of the median offer are hardly told apart."""


def to_pack(lots: Sequence[Lot], ground: OfferArrays) -> list[Lot]:
    """The lots as they are packed: no smaller than they are."""
    pods = sum(lot.count for lot in lots)
    cells = _cells(lots, ground, max(PACKED, CLASSES_TIMES_PODS // max(1, pods)))
    if cells is None:
        return list(lots)
    larger = _resized(lots, cells, np.maximum)
    fit = placeable(larger, ground)
    return [up if fits else lot for lot, up, fits in zip(lots, larger, fit, strict=True)]


def to_bound(lots: Sequence[Lot], ground: OfferArrays) -> list[Lot]:
    """The lots as they are bounded: no larger than they are."""
    cells = _cells(lots, ground, BOUNDED)
    return list(lots) if cells is None else _resized(lots, cells, np.minimum)


def _cells(lots: Sequence[Lot], ground: OfferArrays, most: int) -> NDArray[np.intp] | None:
    """The number of each lot's cell, of the finest grid that leaves few enough; None: no need."""
    if len(lots) <= most or not ground.offers or len({lot.key for lot in lots}) <= most:
        return None
    rules: dict[tuple[object, ...], int] = {}
    kinds = np.array([rules.setdefault(lot.key[1:], len(rules)) for lot in lots])
    typical = np.maximum(np.median(ground.capacity, axis=0), 1.0)
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
    """All lots of a cell with the largest, or the smallest, requests among them."""
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    sizes = choose.reduceat(_sizes(lots)[order], starts)[cells].tolist()
    return [replace(lot, requests=tuple(row)) for lot, row in zip(lots, sizes, strict=True)]
