"""What Hetzner sells and at what price, in a file: for plans that are made without asking Hetzner.

`growth catalogue save` writes such a file from the API; the one that we ship is for those who have
no account at hand. Each price says where it comes from and whether it is an estimate, so that a
figure is never believed more than it deserves. Files are read as strictly as manifests.
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
    """What Hetzner bills in."""

    EUR = "EUR"
    USD = "USD"


class Processor(StrEnum):
    """A processor's architecture, as Hetzner calls it."""

    X86 = "x86"
    ARM = "arm"


class PlacePrice(Model):
    """What something costs in one place, before taxes."""

    rules: ClassVar[tuple[AnyRule, ...]] = (
        ModelRule(
            text="what costs nothing would be bought first: write the price of an hour",
            because="files are never seen by the API server",
            breaches=holds(lambda price: price.hourly > 0, at=("hourly",)),
        ),
    )

    location: Place
    """Where."""
    hourly: Money
    """An hour."""
    monthly: Money | None = None
    """The most that it costs in a calendar month; unset if nobody knows."""
    estimated: Flag = False
    """Whether it was worked out from something else than Hetzner's own figure."""
    source: Sentence
    """Where the figures come from."""


class ListedOffer(PlacePrice):
    """A server type in one place."""

    available: Flag = True
    """What Hetzner says of its stock; it is wrong both ways, and only decides between equals."""
    unavailable_after: Timestamp | None = None
    """When its sale ends, if that is announced."""


class ListedType(Model):
    """A server type, wherever it is sold at a known price."""

    name: Identifier
    """As Hetzner calls it."""
    cores: Annotated[Count, Field(ge=1)]
    """Processors."""
    memory: Money
    """In GB, which are GiB here."""
    disk: Annotated[Count, Field(ge=1)]
    """In GB, which are 10^9 bytes."""
    architecture: Processor
    """x86 or arm."""
    offers: Annotated[tuple[ListedOffer, ...], ListMap("location")]
    """Where it is sold, and at what price."""


class Region(Model):
    """A place, and the network zone that it is part of."""

    name: Place
    """Such as nbg1."""
    network_zone: Place
    """Such as eu-central."""


class PriceList(Model):
    """All that is sold, on one day."""

    provider: Literal["hetzner"]
    """Whose list it is."""
    date: date
    """The day on which it was true."""
    currency: Currency
    """What all prices are in."""
    locations: Annotated[tuple[Region, ...], ListMap("name")]
    """All places."""
    ipv4: Annotated[tuple[PlacePrice, ...], ListMap("location")] = ()
    """What a public IPv4 address costs besides the server."""
    server_types: Annotated[tuple[ListedType, ...], Field(min_length=1), ListMap("name")]
    """All types of which a price is known."""
    without_price: Annotated[tuple[Identifier, ...], ListSet()] = ()
    """Types of which no price is known: they can't be planned with."""

    @property
    def text(self) -> str:
        """The list as a file."""
        return json.dumps(self.document(), indent=2) + "\n"


def read_price_list(content: bytes, *, name: str) -> PriceList:
    """The list in a file, or every mistake in it, one line each."""
    try:
        document = json.loads(content)
    except json.JSONDecodeError as error:
        said = error.msg[:1].lower() + error.msg[1:]
        raise Misconfigured(
            f"{name}:{error.lineno}: this is not JSON ({said}); {WRITTEN_BY}"
        ) from None
    except ValueError:
        raise Misconfigured(f"{name}: this is not text; {WRITTEN_BY}") from None
    if not isinstance(document, dict):
        raise Misconfigured(f"{name}: here a list of prices is expected; {WRITTEN_BY}")
    try:
        return PriceList.model_validate(document, extra="forbid", by_name=False)
    except ValidationError as error:
        mistakes = problems_of(error, PriceList)
        raise Misconfigured("\n".join(f"{name}: {mistake}" for mistake in mistakes)) from None


def shipped() -> PriceList:
    """The newest list that comes with growth."""
    found = [each for each in resources.files(SHIPPED_IN).iterdir() if each.name.endswith(".json")]
    newest = max(found, key=lambda each: each.name)
    return read_price_list(newest.read_bytes(), name=newest.name)
