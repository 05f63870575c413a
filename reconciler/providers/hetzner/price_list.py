"""A file with what Hetzner sells and at what price, for plans without access to Hetzner.

`growth catalogue save` writes such a file from the API. growth also comes with one, for users
without an account. Each price says where it comes from and whether it is an estimate. Files are
read as strictly as manifests.
"""

from __future__ import annotations

import json
from datetime import date
from enum import StrEnum
from importlib import resources
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationError

from growth.api.bounds import Count, Flag, Identifier, ListMap, ListSet, Place, Sentence
from growth.api.model import Model
from growth.api.problems import problems_of
from growth.api.rules import AnyRule, ModelRule, holds
from growth.api.written import Money, Timestamp
from growth.errors import Misconfigured

WRITTEN_BY = "growth catalogue save writes such a file"
SHIPPED_IN = "reconciler.providers.hetzner.prices"


class Currency(StrEnum):
    """A currency in which Hetzner bills."""

    EUR = "EUR"
    USD = "USD"


class Processor(StrEnum):
    """Hetzner's name for a processor architecture."""

    X86 = "x86"
    ARM = "arm"


class PlacePrice(Model):
    """A price in one location, before taxes."""

    rules: ClassVar[tuple[AnyRule, ...]] = (
        ModelRule(
            text="must be greater than 0, because growth would buy a free type first",
            because="the API server never sees these files",
            breaches=holds(lambda price: price.hourly > 0, at=("hourly",)),
        ),
    )

    location: Place
    """The location, such as nbg1."""
    hourly: Money
    """The price per hour."""
    monthly: Money | None = None
    """The maximum price for a calendar month; unset if it isn't known."""
    estimated: Flag = False
    """Whether the price was derived from other figures than Hetzner's own."""
    source: Sentence
    """The source of the figures."""


class ListedOffer(PlacePrice):
    """A server type in one location."""

    available: Flag = True
    """Whether Hetzner says that it is in stock. This is often wrong in both directions, so it only
    decides between equal offers."""
    unavailable_after: Timestamp | None = None
    """When Hetzner stops selling it, if announced."""


class ListedType(Model):
    """A server type, with all locations where its price is known."""

    name: Identifier
    """Hetzner's name for it."""
    cores: Annotated[Count, Field(ge=1)]
    """Number of processors."""
    memory: Money
    """In GB; Hetzner means GiB."""
    disk: Annotated[Count, Field(ge=1)]
    """In GB (10^9 bytes)."""
    architecture: Processor
    """x86 or arm."""
    offers: Annotated[tuple[ListedOffer, ...], ListMap("location")]
    """Locations where it is sold, and prices."""


class Region(Model):
    """A location and its network zone."""

    name: Place
    """Such as nbg1."""
    network_zone: Place
    """Such as eu-central."""


class PriceList(Model):
    """Everything that is sold on one day."""

    provider: Literal["hetzner"]
    """The provider that sells it."""
    date: date
    """The day for which the prices are valid."""
    currency: Currency
    """The currency of all prices."""
    locations: Annotated[tuple[Region, ...], ListMap("name")]
    """All locations."""
    ipv4: Annotated[tuple[PlacePrice, ...], ListMap("location")] = ()
    """The price of a public IPv4 address, in addition to the server."""
    server_types: Annotated[tuple[ListedType, ...], Field(min_length=1), ListMap("name")]
    """All types with a known price."""
    without_price: Annotated[tuple[Identifier, ...], ListSet()] = ()
    """Types without a known price; plans can't use them."""

    @property
    def text(self) -> str:
        """The list as a file."""
        return json.dumps(self.document(), indent=2) + "\n"


def read_price_list(content: bytes, *, name: str) -> PriceList:
    """Parse a price list. Raises Misconfigured with all mistakes in it, one per line."""
    try:
        document = json.loads(content)
    except json.JSONDecodeError as error:
        said = error.msg[:1].lower() + error.msg[1:]
        raise Misconfigured(
            f"{name}:{error.lineno}: this is not JSON ({said}); {WRITTEN_BY}"
        ) from None
    except (ValueError, RecursionError):
        raise Misconfigured(f"{name}: this is not text; {WRITTEN_BY}") from None
    if not isinstance(document, dict):
        raise Misconfigured(f"{name}: this is not a price list; {WRITTEN_BY}")
    try:
        return PriceList.model_validate(document, extra="forbid", by_name=False)
    except ValidationError as error:
        mistakes = problems_of(error, PriceList)
        raise Misconfigured("\n".join(f"{name}: {mistake}" for mistake in mistakes)) from None


def shipped() -> PriceList:
    """The newest price list that comes with growth."""
    found = [each for each in resources.files(SHIPPED_IN).iterdir() if each.name.endswith(".json")]
    newest = max(found, key=lambda each: each.name)
    return read_price_list(newest.read_bytes(), name=newest.name)
