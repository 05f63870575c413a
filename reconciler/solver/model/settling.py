"""All rules about domains, settled one after the other: what is left can be packed unit by unit.

Pods that stay together come first, then followers and their anchors: whatever shares a node or a
domain because of them is one thing for the rules that spread pods out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.solver.model.anchoring import anchored
from reconciler.solver.model.blocks import in_blocks
from reconciler.solver.model.bundles import bundled
from reconciler.solver.model.lots import plain_lots, put_together, split, together_first, with_share
from reconciler.solver.model.problem import HOSTNAME, Apart, Near, SpreadRule, Together
from reconciler.solver.model.spreads import NOTHING_ASSUMED

if TYPE_CHECKING:
    from reconciler.solver.model.lots import Lot, OfferArrays
    from reconciler.solver.model.nearness import NearGuess
    from reconciler.solver.model.problem import Problem
    from reconciler.solver.model.spreads import Assumptions


def lots_of(
    problem: Problem,
    ground: OfferArrays,
    guess: NearGuess,
    *,
    assumed: Assumptions = NOTHING_ASSUMED,
) -> list[Lot]:
    """All pods of the problem as lots, with the rules about domains settled."""
    lots = plain_lots(problem, ground)
    groups = sorted(problem.groups, key=together_first)
    for group in groups:
        if isinstance(group, Together):
            lots = put_together(lots, group, ground)
    if any(isinstance(group, Near) for group in groups):
        lots = bundled([lot for lot in lots if lot.count], problem, ground, guess)
        lots = anchored(lots, problem, ground, guess)
    for group in groups:
        match group:
            case Together() | Near():
                pass
            case SpreadRule() | Apart() if group.key == HOSTNAME:
                lots = [with_share(lot, group) for lot in lots]
            case SpreadRule() | Apart():
                lots = split(lots, group, ground)
    return [lot for lot in in_blocks(lots, problem, ground, assumed) if lot.count]
