"""Units of several pods of a spread over nodes, so that packing leaves no node with too few.

If each of so many nodes must hold three pods of a group, three of them are packed as one unit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.solver.model.lots import composite, fits
from reconciler.solver.model.spreads import PLAIN, node_spreads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reconciler.solver.model.lots import Lot, OfferArrays
    from reconciler.solver.model.problem import Problem, SpreadRule
    from reconciler.solver.model.spreads import Assumptions


def in_blocks(
    lots: Sequence[Lot], problem: Problem, ground: OfferArrays, assumed: Assumptions
) -> list[Lot]:
    """The lots with as many pods in one unit as each node needs at least, and the rest alone."""
    lots = list(lots)
    for spread in node_spreads(problem):
        needed = spread.shortfalls(assumed.get(spread.rule.name, PLAIN))
        total = sum(lot.count for lot in lots if _is_single(lot, spread.rule))
        if not needed or not total:
            continue
        parts: list[Lot] = []
        for lot in lots:
            share = lot.count / total
            parts += (
                _parts(lot, Counter(needed), share, ground)
                if _is_single(lot, spread.rule)
                else [lot]
            )
        lots = parts
    return lots


def _parts(lot: Lot, needed: Counter[int], share: float, ground: OfferArrays) -> Iterator[Lot]:
    left = lot.count
    for size, number in sorted(needed.items()):
        block = composite([lot], [size])
        if size > (lot.per_node or size) or not fits(block, ground).any():
            continue
        blocks = min(left // size, round(number * share))
        per_node = None if lot.per_node is None else lot.per_node // size
        yield replace(block, count=blocks, per_node=per_node)
        left -= blocks * size
    yield replace(lot, count=left)


def _is_single(lot: Lot, group: SpreadRule) -> bool:
    """Whether a unit is one pod of a group."""
    return len(lot.pods) == 1 and lot.pods[0][1] == 1 and lot.pods[0][0] in group.members
