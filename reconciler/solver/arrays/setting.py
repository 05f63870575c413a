"""A problem ready for the search: one table for packing, and one for the bound."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.coarse import to_bound, to_pack
from reconciler.solver.arrays.minima import with_minima_opened
from reconciler.solver.arrays.table import Table, table_of
from reconciler.solver.model.hopeless import placeable
from reconciler.solver.model.lots import Lot, OfferArrays, ground_of, relaxed_lots_of
from reconciler.solver.model.nearness import NO_GUESS, NearGuess, with_limits_as_groups
from reconciler.solver.model.settling import lots_of
from reconciler.solver.model.spreads import NOTHING_ASSUMED, Assumptions, reachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.solver.model.draft_node import DraftNode
    from reconciler.solver.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """`table` is for packing, with all domains chosen; `relaxed` is the same without these choices.

    All plans keep the rules of `relaxed`, so a bound for it is a bound for the problem.
    """

    problem: Problem
    ground: OfferArrays
    table: Table
    relaxed: Table
    is_exact: bool = True
    """Whether all pods are packed with their real sizes."""
    guess: NearGuess = NO_GUESS
    """How followers and anchors are settled in `table`."""

    def left_out(self, nodes: Sequence[DraftNode]) -> dict[int, int]:
        """The pods of `relaxed`, by priority, that are on none of the nodes."""
        placed: Counter[str] = Counter()
        for node in nodes:
            placed.update(node.pods)
        left: Counter[int] = Counter()
        for k, lots in enumerate(self.relaxed.lots):
            # A lot of the relaxed table is of one class: only `lots_of` joins pods of several to
            # one unit.
            counts = (lot.count - placed[lot.pods[0][0]] for lot in lots)
            left[int(self.relaxed.priority[k])] += sum(counts)
        return dict(left)


def setting_of(problem: Problem, guess: NearGuess = NO_GUESS) -> Setting:
    """Both tables; they are the same one if no group, minimum or grid makes them differ."""
    problem = with_limits_as_groups(problem)
    ground = ground_of(problem)
    highest = reachable(problem)
    lots = relaxed_lots_of(problem, ground, assumed=highest)
    relaxed = _served(problem, to_bound(lots, ground), ground, assumed=highest)
    whole = Setting(problem=problem, ground=ground, table=relaxed, relaxed=relaxed, guess=guess)
    return packed_as(whole, NOTHING_ASSUMED)


def packed_as(setting: Setting, assumed: Assumptions) -> Setting:
    """The setting with another table to pack; `assumed` is about each spread over nodes."""
    problem, ground, relaxed = setting.problem, setting.ground, setting.relaxed
    ruled = bool(problem.groups or problem.minima)
    if ruled:
        lots = lots_of(problem, ground, setting.guess, assumed=assumed)
    else:
        lots = relaxed_lots_of(problem, ground)
    packed = to_pack(lots, ground)
    # `to_pack` returns the very same lots unless it had to round their sizes.
    is_exact = all(one is other for one, other in zip(packed, lots, strict=True))
    if is_exact and not ruled:
        return setting
    table, reached = with_minima_opened(_served(problem, packed, ground, assumed=assumed))
    # A minimum that can't be reached must not make the bound higher than any plan.
    relaxed = replace(relaxed, minima=np.minimum(relaxed.minima, reached))
    return replace(setting, table=table, relaxed=relaxed, is_exact=is_exact)


def _served(
    problem: Problem, lots: Sequence[Lot], ground: OfferArrays, *, assumed: Assumptions
) -> Table:
    """The table of all units that have room somewhere."""
    chosen = [lot for lot, fits in zip(lots, placeable(lots, ground), strict=True) if fits]
    table = table_of(problem, chosen, ground, assumed=assumed)
    # Rules about nodes, and limits, which only the table has, may leave more lots without an offer.
    served = np.flatnonzero(table.allowed.any(axis=1))
    if len(served) == table.classes:
        return table
    inside = {id(lot) for k in served.tolist() for lot in table.lots[k]}
    inner = [lot for lot in chosen if id(lot) in inside]
    return table_of(problem, inner, ground, assumed=assumed)
