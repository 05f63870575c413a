"""Which prices are believed: a wrong one would send all purchases, or none, to one type.

A price is held against the last good one of the same thing in the same place, and against its own
monthly cap, which is worth some six hundred hours. What lies far outside of both, is gone, or is in
another currency, is not believed: the last good price holds, and that is said. What never had a
good one isn't offered. A real change of that size is believed after a restart, when there is no
earlier price to hold it against.
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
"""A price is believed that is up to so many times the last one, or as many times less."""
HOURS_OF_A_CAP: Final = (Decimal(200), Decimal(1000))
"""What a month's cap may come to in hours; it was 624 in 2026."""
TOLD: Final = 5
"""Doubts that are told one by one."""


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """A catalogue with none but believed prices in it."""

    catalogue: Catalogue
    doubts: tuple[str, ...]
    """What was not believed, and why."""


def weighed(read: Catalogue, *, before: Catalogue | None) -> Weighed:
    """What of a catalogue is believed, after the last one that was."""
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
    """What prices are weighed with, one after the other."""

    def __init__(self, before: Catalogue | None) -> None:
        self.doubts: list[str] = []
        self._good = _prices(before) if before is not None else {}

    def kept(
        self, name: str, prices: Iterable[Price], *, places: Iterable[str]
    ) -> tuple[Price, ...]:
        """What holds of something in each of its places: the price that is told, or the last."""
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
    """Why a price isn't believed; nothing if it is."""
    if price is None:
        return "it is sold without a price"
    hourly = price.price_hourly.net
    if hourly <= 0:
        return "it costs nothing"
    if last is not None and not _is_near(hourly, last.price_hourly.net):
        return f"{hourly} an hour instead of {last.price_hourly.net}"
    shortest, longest = HOURS_OF_A_CAP
    cap = price.price_monthly
    if cap is not None and not shortest <= cap.net / hourly <= longest:
        return f"{hourly} an hour, but {cap.net} a month"
    return ""


def _is_near(price: Decimal, last: Decimal) -> bool:
    return last / AT_ONCE <= price <= last * AT_ONCE


def _few(doubts: Sequence[str]) -> Iterator[str]:
    yield from doubts[:TOLD]
    if len(doubts) > TOLD:
        yield f"and {len(doubts) - TOLD} more"
