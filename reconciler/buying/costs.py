"""Limits on cost, which apply to each currency separately: two currencies are never added.

A pool nearly always has one currency. It has several if its node class was changed, or if a
provider sells in several; and a limit of all pools may cover several.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from reconciler.buying.limits import left_of_limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal

    from reconciler.buying.limits import Left, SetLimit
    from reconciler.buying.offers import Purchasable
    from reconciler.facts.fleet import CountedMachine


def paid_by_currency(machines: Iterable[CountedMachine]) -> Mapping[str, int]:
    """Their cost per hour in each currency, in millionths; amounts always have a currency."""
    paid: Counter[str] = Counter()
    for each in machines:
        if each.price:
            paid[each.currency] += each.price
    return paid


def left_of_cost(
    of: SetLimit,
    items: Iterable[Purchasable],
    machines: Iterable[CountedMachine],
    *,
    most: Decimal,
) -> Iterator[Left]:
    """What a cost limit leaves, for each currency in which something is sold."""
    paid = paid_by_currency(machines)
    prices: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for item in items:
        prices[item.offering.currency][item.name] = item.price
    is_one = len(prices.keys() | paid.keys()) == 1
    for currency, own in sorted(prices.items()):
        what = of.what if is_one else f"{of.what} in {currency or 'prices without a currency'}"
        told = of._replace(what=what, currency=currency)
        yield left_of_limit(told, own, most=int(most * 1_000_000) - paid.get(currency, 0))
