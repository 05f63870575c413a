"""The parts of Hetzner's answers that growth reads; everything else is ignored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

import msgspec


class HetznerNamed(msgspec.Struct, frozen=True):
    """An object that a node class can name: an SSH key or a firewall."""

    id: int
    name: str


class Deprecation(msgspec.Struct, frozen=True):
    """The announced end of a server type."""

    unavailable_after: datetime | None = None


class TypeLocation(msgspec.Struct, frozen=True):
    """A location where a type is sold."""

    name: str
    available: bool = True
    deprecation: Deprecation | None = None


class Net(msgspec.Struct, frozen=True):
    """A price before taxes."""

    net: Decimal


class Price(msgspec.Struct, frozen=True):
    """A price in one location."""

    location: str
    price_hourly: Net
    price_monthly: Net | None = None
    """Always set by the API; a price list in a file may not have it."""


class ServerType(msgspec.Struct, frozen=True):
    """A server type."""

    name: str
    cores: int
    memory: Decimal
    """In GB; Hetzner means GiB."""
    disk: int
    """In GB (10^9 bytes)."""
    architecture: str
    prices: tuple[Price, ...]
    locations: tuple[TypeLocation, ...]


class PrimaryIp(msgspec.Struct, frozen=True):
    """The prices of a kind of public IP address."""

    type: str
    prices: tuple[Price, ...]


class Pricing(msgspec.Struct, frozen=True):
    """Prices besides those of servers."""

    currency: str
    primary_ips: tuple[PrimaryIp, ...] = ()

    @property
    def currency_code(self) -> str:
        """The currency, or an empty string if it isn't a three-letter code."""
        return self.currency if re.fullmatch("[A-Z]{3}", self.currency) else ""


class HetznerLocation(msgspec.Struct, frozen=True):
    """A location and its network zone."""

    name: str
    network_zone: str


class Image(msgspec.Struct, frozen=True):
    """An image from which a server boots."""

    id: int
    architecture: str
    status: str
    name: str | None = None


class Subnet(msgspec.Struct, frozen=True):
    """A part of a network."""

    network_zone: str
    ip_range: str | None = None


class Network(msgspec.Struct, frozen=True):
    """A private network and the servers in it."""

    id: int
    name: str
    subnets: tuple[Subnet, ...] = ()
    servers: tuple[int, ...] = ()


class PrivateNet(msgspec.Struct, frozen=True):
    """A private network that a server is attached to."""

    network: int


class Named(msgspec.Struct, frozen=True):
    """An object of which only the name matters."""

    name: str = ""


class Datacenter(msgspec.Struct, frozen=True):
    """Where a server is, as older answers say it."""

    location: Named = Named()


class HetznerServer(msgspec.Struct, frozen=True):
    """One server."""

    id: int
    name: str
    status: str
    created: datetime
    labels: Mapping[str, str] = {}
    private_net: tuple[PrivateNet, ...] = ()
    server_type: Named = Named()
    datacenter: Datacenter = Datacenter()
    location: Named | None = None


class ActionResource(msgspec.Struct, frozen=True):
    """An object that an action is for."""

    id: int
    type: str


class ActionError(msgspec.Struct, frozen=True):
    """Why an action failed."""

    code: str
    message: str


class Action(msgspec.Struct, frozen=True):
    """An operation that continues after the API has answered."""

    id: int
    command: str
    started: datetime
    resources: tuple[ActionResource, ...] = ()
    error: ActionError | None = None


class PlacementGroup(msgspec.Struct, frozen=True):
    """A placement group: its servers are on different hosts."""

    id: int
    name: str
    created: datetime
    labels: Mapping[str, str] = {}
    servers: tuple[int, ...] = ()


class Pagination(msgspec.Struct, frozen=True):
    """The position of a page in a listing."""

    next_page: int | None = None
    total_entries: int | None = None


class Meta(msgspec.Struct, frozen=True):
    """The metadata of a listing."""

    pagination: Pagination
