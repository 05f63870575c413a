"""What all pools together may still buy: the last brake, which no pool can loosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.solver import Limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reconciler.planning.fleet import Fleet
    from reconciler.planning.offers import Purchasable
    from reconciler.world import World


def in_total(
    items: Sequence[Purchasable], fleet: Fleet, world: World, *, bought: int
) -> Iterator[Limit]:
    """The caps that are set, less what there is; `bought` are the machines of the last hour."""
    caps, have = world.caps, fleet.machines.values()
    ones = dict.fromkeys((item.name for item in items), 1)
    if caps.nodes is not None:
        name = f"{caps.nodes} nodes in all pools together (--max-nodes)"
        yield Limit(name=name, amounts=ones, most=max(0, caps.nodes - len(have)))
    if caps.nodes_per_hour is not None:
        name = f"{caps.nodes_per_hour} nodes an hour in all pools together (--max-nodes-per-hour)"
        yield Limit(name=name, amounts=ones, most=max(0, caps.nodes_per_hour - bought))
    if caps.hourly_cost is not None:
        name = f"{caps.hourly_cost} an hour for all pools together (--max-hourly-cost)"
        prices = {item.name: item.price for item in items}
        most = int(caps.hourly_cost * 1_000_000) - sum(each.price for each in have)
        yield Limit(name=name, amounts=prices, most=max(0, most))
