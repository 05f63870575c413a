"""Which prices to believe: a wrong price would direct all purchases to one type, or none.

A price is compared with the last good price of the same type in the same location, and with its own
monthly cap, which is worth about 600 hours. If it is far off either, missing, or in another
currency, growth doesn't believe it: it uses the last good price and reports a doubt. A type that
never had a good price isn't offered. After a restart there is no earlier price to compare with, so
a real change of that size is then believed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.providers.hetzner.catalogue import Catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reconciler.providers.hetzner.wire import Price, TypeLocation

AT_ONCE: Final = Decimal(4)
"""The largest factor, up or down, by which a price may change at once."""
HOURS_OF_A_CAP: Final = (Decimal(200), Decimal(1000))
"""How many hours a monthly cap may be worth; it was 624 in 2026."""
TOLD: Final = 5
"""How many doubts are listed one by one."""


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """A catalogue that has only believed prices."""

    catalogue: Catalogue
    doubts: tuple[str, ...]
    """The prices that weren't believed, and why."""


def weighed(read: Catalogue, *, before: Catalogue | None) -> Weighed:
    """Keep the believed prices of a catalogue, compared with the last believed catalogue."""
    if before is not None and read.pricing.currency != before.pricing.currency:
        doubt = f"prices are in {read.pricing.currency} instead of {before.pricing.currency}"
        return Weighed(catalogue=before, doubts=(doubt,))
    scale = _Scale(before)
    types = tuple(
        msgspec.structs.replace(
            each, prices=scale.kept(each.name, each.prices, places=_names(each.locations))
        )
        for each in read.types
    )
    addresses = tuple(
        msgspec.structs.replace(
            each, prices=scale.kept(each.type, each.prices, places=_places(each.prices))
        )
        for each in read.pricing.primary_ips
    )
    pricing = msgspec.structs.replace(read.pricing, primary_ips=addresses)
    catalogue = msgspec.structs.replace(read, types=types, pricing=pricing)
    return Weighed(catalogue=catalogue, doubts=tuple(_few(scale.doubts)))


class _Scale:
    """Compares prices with the last good ones and collects the doubts."""

    def __init__(self, before: Catalogue | None) -> None:
        self.doubts: list[str] = []
        self._good = _prices(before) if before is not None else {}

    def kept(
        self, name: str, prices: Iterable[Price], *, places: Iterable[str]
    ) -> tuple[Price, ...]:
        """The price in each location: the new one if it is believed, else the last good one."""
        told = {price.location: price for price in prices}
        found = (self._kept(name, place, told.get(place)) for place in places)
        return tuple(price for price in found if price is not None)

    def _kept(self, name: str, place: str, price: Price | None) -> Price | None:
        last = self._good.get((name, place))
        doubt = _doubt(price, last)
        if not doubt:
            return price
        self.doubts.append(f"{name} in {place}: {doubt}")
        return last


def _names(places: Iterable[TypeLocation]) -> Iterator[str]:
    return (place.name for place in places)


def _places(prices: Iterable[Price]) -> Iterator[str]:
    return (price.location for price in prices)


def _prices(catalogue: Catalogue) -> dict[tuple[str, str], Price]:
    things = (
        *((each.name, each.prices) for each in catalogue.types),
        *((each.type, each.prices) for each in catalogue.pricing.primary_ips),
    )
    return {(name, price.location): price for name, prices in things for price in prices}


def _doubt(price: Price | None, last: Price | None) -> str:
    """Why a price isn't believed; empty if it is."""
    if price is None:
        return "it has no price"
    hourly = price.price_hourly.net
    if hourly <= 0:
        return "it costs nothing"
    if last is not None and not _is_near(hourly, last.price_hourly.net):
        return f"{hourly} per hour instead of {last.price_hourly.net}"
    # This also catches a wrong first price, which has no earlier one to compare with.
    shortest, longest = HOURS_OF_A_CAP
    cap = price.price_monthly
    if cap is not None and not shortest <= cap.net / hourly <= longest:
        return f"{hourly} per hour, but {cap.net} per month"
    return ""


def _is_near(price: Decimal, last: Decimal) -> bool:
    return last / AT_ONCE <= price <= last * AT_ONCE


def _few(doubts: Sequence[str]) -> Iterator[str]:
    yield from doubts[:TOLD]
    if len(doubts) > TOLD:
        yield f"and {len(doubts) - TOLD} more"
