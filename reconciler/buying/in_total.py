"""What all pools together may still buy: the last limit, which no pool can raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.buying.costs import left_of_cost
from reconciler.buying.limits import Left, LimitKind, SetLimit, left_of_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.facts.fleet import Fleet


def in_total(
    items: Sequence[Purchasable], fleet: Fleet, world: World, *, bought: int
) -> Iterator[Left]:
    """The caps that are set, less what there is; `bought` are the machines of the last hour."""
    caps, have = world.caps, fleet.machines.values()
    ones = dict.fromkeys((item.name for item in items), 1)
    if caps.nodes is not None:
        what = f"{caps.nodes} nodes in all pools together (--max-nodes)"
        yield left_of_limit(
            SetLimit(LimitKind.TOTAL_NODES, what), ones, most=caps.nodes - len(have)
        )
    if caps.nodes_per_hour is not None:
        what = f"{caps.nodes_per_hour} nodes an hour in all pools together (--max-nodes-per-hour)"
        most = caps.nodes_per_hour - bought
        yield left_of_limit(SetLimit(LimitKind.TOTAL_NODES_PER_HOUR, what), ones, most=most)
    if caps.hourly_cost is not None:
        what = f"{caps.hourly_cost} an hour for all pools together (--max-hourly-cost)"
        of = SetLimit(LimitKind.TOTAL_HOURLY_COST, what)
        yield from left_of_cost(of, items, have, most=caps.hourly_cost)
