"""What may be bought at one moment: the same answer for demand, for replacement and on paper."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reconciler.buying.fleet import Market, fleet
from reconciler.buying.in_total import in_total
from reconciler.buying.refusals import one_at_a_time, usable
from reconciler.buying.shared_networks import shared
from reconciler.facts.requested import all_requests, bought_lately

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World


def market(world: World, now: Instant) -> Market:
    """The offers that nobody refuses, and what limits leave of them."""
    items, refusals = sold(world), world.ledger.planning.refusals
    machines = fleet(world, all_requests(world).values())
    bought = Counter(each.pool for each in bought_lately(world, now).values())
    return Market(
        items=items,
        fleet=machines,
        bought=bought,
        singles=one_at_a_time(items, refusals, world),
        shared=shared(items, machines, world),
        in_total=tuple(in_total(items, machines, world, bought=bought.total())),
    )


def sold(world: World) -> tuple[Purchasable, ...]:
    """The offers of that market alone."""
    planning = world.ledger.planning
    requests = all_requests(world).values()
    return usable(planning.shelf.items, planning.refusals, world, requests)


def nothing_sold(world: World) -> Market:
    """A market without offers."""
    return Market(items=(), fleet=fleet(world, ()))
