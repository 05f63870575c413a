"""Converts between a price list in a file and the catalogue from the API.

A file becomes the same catalogue that the live provider reads, so the same rules decide which
offerings there are, with which labels and resources. `growth catalogue save` converts back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.errors import GiveUp
from growth.spelling import did_you_mean
from reconciler.providers.hetzner.catalogue import ARCHITECTURES, Catalogue, image_for
from reconciler.providers.hetzner.price_list import (
    Currency,
    ListedOffer,
    ListedType,
    PlacePrice,
    PriceList,
    Processor,
    Region,
)
from reconciler.providers.hetzner.wire import (
    Deprecation,
    HetznerLocation,
    Net,
    Price,
    Pricing,
    PrimaryIp,
    ServerType,
    TypeLocation,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from decimal import Decimal

    from growth.api.hetznernodeclass import HetznerNodeClassSpec
    from growth.api.written import ServerTypeName

BY_THE_API = "Hetzner's API"
IPV4 = "ipv4"
LONGEST = 12
"""Decimal places."""


def catalogue(prices: PriceList) -> Catalogue:
    """The catalogue from a price list."""
    addresses = tuple(_price(each) for each in prices.ipv4)
    return Catalogue(
        types=tuple(_server_type(each) for each in prices.server_types),
        locations=tuple(HetznerLocation(each.name, each.network_zone) for each in prices.locations),
        pricing=Pricing(prices.currency.value, (PrimaryIp(IPV4, addresses),)),
    )


def _server_type(listed: ListedType) -> ServerType:
    return ServerType(
        name=listed.name,
        cores=listed.cores,
        memory=listed.memory,
        disk=listed.disk,
        architecture=listed.architecture.value,
        prices=tuple(_price(each) for each in listed.offers),
        locations=tuple(_place(each) for each in listed.offers),
    )


def _price(listed: PlacePrice) -> Price:
    monthly = None if listed.monthly is None else Net(listed.monthly)
    return Price(listed.location, Net(listed.hourly), monthly)


def _place(offer: ListedOffer) -> TypeLocation:
    end = offer.unavailable_after
    return TypeLocation(offer.location, offer.available, Deprecation(end) if end else None)


def price_list(catalogue: Catalogue, *, day: date) -> PriceList:
    """The price list to save for a catalogue from the API."""
    known = [each for each in catalogue.types if each.architecture in ARCHITECTURES]
    types = [_listed_type(each) for each in known]
    addresses = (each for each in catalogue.pricing.primary_ips if each.type == IPV4)
    return PriceList(
        provider="hetzner",
        date=day,
        currency=_currency(catalogue.pricing.currency),
        locations=tuple(
            Region(name=each.name, network_zone=each.network_zone) for each in catalogue.locations
        ),
        ipv4=tuple(_listed_price(price) for each in addresses for price in each.prices),
        server_types=tuple(each for each in types if each.offers),
        without_price=tuple(each.name for each in types if not each.offers),
    )


def _currency(name: str) -> Currency:
    try:
        return Currency(name)
    except ValueError:
        known = " and ".join(Currency)
        raise GiveUp(
            f"Hetzner bills this account in {name}, and growth only knows {known}: please report it"
        ) from None


def _listed_type(sold: ServerType) -> ListedType:
    return ListedType(
        name=sold.name,
        cores=sold.cores,
        memory=_plain(sold.memory),
        disk=sold.disk,
        architecture=Processor(sold.architecture),
        offers=tuple(_offers(sold)),
    )


def _offers(sold: ServerType) -> Iterator[ListedOffer]:
    """Where the type is sold and its price is known; the catalogue has only believed prices."""
    places = {each.name: each for each in sold.locations}
    for price in sold.prices:
        place = places.get(price.location)
        if place is None:
            continue
        end = place.deprecation.unavailable_after if place.deprecation else None
        listed = _listed_price(price)
        yield ListedOffer(**dict(listed), available=place.available, unavailable_after=end)


def _listed_price(price: Price) -> PlacePrice:
    monthly = price.price_monthly.net if price.price_monthly else None
    return PlacePrice(
        location=price.location,
        hourly=_plain(price.price_hourly.net),
        monthly=None if monthly is None else _plain(monthly),
        source=BY_THE_API,
    )


def _plain(amount: Decimal) -> Decimal:
    """Without the API's trailing zeros, and with no more decimal places than a file may have."""
    return round(amount, LONGEST).normalize()


def estimates(prices: PriceList, spec: HetznerNodeClassSpec) -> frozenset[tuple[str, str]]:
    """The offers, as type and location, whose price for this class is at least partly estimated."""
    addresses = {each.location: each.estimated for each in prices.ipv4 if spec.public_ipv4}
    return frozenset(
        (listed.name.lower(), offer.location)
        for listed in prices.server_types
        for offer in listed.offers
        if offer.estimated or addresses.get(offer.location, False)
    )


def why_not(prices: PriceList, spec: HetznerNodeClassSpec, name: ServerTypeName) -> str:
    """Why a class can't buy a type in any location."""
    if name.canonical in {each.lower() for each in prices.without_price}:
        return f"the price of {name} isn't known"
    found = next(
        (each for each in prices.server_types if each.name.lower() == name.canonical), None
    )
    if found is None:
        hint = did_you_mean(str(name), (each.name for each in prices.server_types))
        return f"{name} isn't in Hetzner's price list{hint and f'; {hint}'}"
    if image_for(spec, found.architecture.value) is None:
        field = f"spec.images.{found.architecture.value}"
        return f"{name} is {ARCHITECTURES[found.architecture.value]}, and the class has no {field}"
    places = ", ".join(each.location for each in found.offers)
    return f"{name} is only sold in {places}, or no longer at all"
