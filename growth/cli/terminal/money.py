"""Formats money for people: one format everywhere, with the currency if it is known.

Amounts per hour have four decimals, because machines cost cents; amounts per month have two.
Amounts of different currencies are shown side by side and never added.
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
    """An amount per hour: 0.0136, or 0.0136 EUR."""
    return _written(f"{Decimal(amount):.4f}", currency)


def monthly(amount: Amount, currency: str = "") -> str:
    """An amount per month: 9.93, or 9.93 EUR."""
    return _written(f"{Decimal(amount):.2f}", currency)


def added(amounts: Iterable[tuple[str, Decimal]]) -> dict[str, Decimal]:
    """Sums by currency, without zeros."""
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    for currency, amount in amounts:
        if amount:
            found[currency] += amount
    return dict(sorted(found.items()))


def whole(costs: Mapping[str, Decimal]) -> Decimal | None:
    """The only sum; None if there are several, which can't be added."""
    return None if len(costs) > 1 else sum(costs.values(), Decimal(0))


def the_currency(costs: Mapping[str, Decimal], otherwise: str = "") -> str:
    """The only currency; empty if there are several, and `otherwise` if there are no costs."""
    return "" if len(costs) > 1 else next(iter(costs), otherwise)


def hourly_each(costs: Mapping[str, Decimal], otherwise: str = "") -> str:
    """The cost per hour in each currency; zero is shown in the currency given as `otherwise`."""
    told = [hourly(amount, currency) for currency, amount in costs.items()]
    return " and ".join(told) or hourly(0, otherwise)


def month_of(hour: Decimal) -> Decimal:
    """The cost of a month at this cost per hour."""
    return hour * HOURS_A_MONTH


def currency_of(node_classes: Iterable[NodeClass]) -> str:
    """The currency that all are billed in; empty if it is unknown or there are several."""
    known = {each.currency for each in node_classes if each.currency}
    return known.pop() if len(known) == 1 else ""


def _written(amount: str, currency: str) -> str:
    return f"{amount} {currency}" if currency else amount
