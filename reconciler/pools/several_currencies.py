"""What a pool says while its prices are in more than one currency.

Its node class sells in both, or it has machines that were bought before its class sold in another.
Amounts of two currencies are never compared and never added, so what people would expect of one
pool doesn't hold: the cheapest machine, a limit on its cost. They should know.
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
    """The condition to write, as its offers and its last counted machines are."""
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
