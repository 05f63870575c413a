"""Money as people read it: one form everywhere, and the currency where it is known.

An hour has four digits behind the point, as machines cost cents; a month has two. Amounts of two
currencies are told beside each other and never added.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.nodeclass import NodeClass

HOURS_A_MONTH: Final = 730
Amount = Decimal | float | str


def hourly(amount: Amount, currency: str = "") -> str:
    """What an hour costs: 0.0136, or 0.0136 EUR."""
    return _written(f"{Decimal(amount):.4f}", currency)


def monthly(amount: Amount, currency: str = "") -> str:
    """What a month costs: 9.93, or 9.93 EUR."""
    return _written(f"{Decimal(amount):.2f}", currency)


def added(amounts: Iterable[tuple[str, Decimal]]) -> dict[str, Decimal]:
    """Sums by currency, of those that aren't zero."""
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    for currency, amount in amounts:
        if amount:
            found[currency] += amount
    return dict(sorted(found.items()))


def whole(costs: Mapping[str, Decimal]) -> Decimal | None:
    """The one sum; None where there are several, which can't be added."""
    return None if len(costs) > 1 else sum(costs.values(), Decimal(0))


def the_currency(costs: Mapping[str, Decimal], otherwise: str = "") -> str:
    """The one currency; empty where there are several."""
    return "" if len(costs) > 1 else next(iter(costs), otherwise)


def hourly_each(costs: Mapping[str, Decimal], otherwise: str = "") -> str:
    """What an hour costs in each currency; zero is told in the other one."""
    told = [hourly(amount, currency) for currency, amount in costs.items()]
    return " and ".join(told) or hourly(0, otherwise)


def month_of(hour: Decimal) -> Decimal:
    """What a month of such hours costs."""
    return hour * HOURS_A_MONTH


def currency_of(node_classes: Iterable[NodeClass]) -> str:
    """The one that all of them are billed in; empty where none is known, or several are."""
    known = {each.currency for each in node_classes if each.currency}
    return known.pop() if len(known) == 1 else ""


def _written(amount: str, currency: str) -> str:
    return f"{amount} {currency}" if currency else amount
