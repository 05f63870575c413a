"""The condition of a pool whose prices are in more than one currency.

Either its node class sells in several, or it has machines from before the class changed its
currency. Amounts of different currencies are never compared or added, so two expectations don't
hold: that the cheapest machine is bought, and that a cost limit covers everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.wellknown import SEVERAL_CURRENCIES
from reconciler.pools.saying import begun_or_ended

if TYPE_CHECKING:
    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World

ONE: Final = ("OneCurrency", "All prices of the pool are in one currency.")


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write, from the pool's offers and its last counted machines."""
    offered = world.ledger.planning.shelf.currencies.get(pool.name, frozenset())
    paid = {each.currency for each in pool.status.other_costs}
    currencies = offered | paid | ({pool.status.currency} if paid else set())
    said = ("NotComparable", _message(sorted(currencies))) if len(currencies) > 1 else None
    return begun_or_ended(pool, now, name=SEVERAL_CURRENCIES, said=said, otherwise=ONE)


def _message(currencies: list[str]) -> str:
    names = " and ".join(each or "no currency" for each in currencies)
    return (
        f"The prices of the pool are in {names}. growth doesn't compare or add amounts of "
        "different currencies: it buys in one currency after the other, in this order, and "
        "limits.hourlyCost applies to each currency separately."
    )
