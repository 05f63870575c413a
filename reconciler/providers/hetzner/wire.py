"""What growth reads of Hetzner's answers; everything else in them is passed over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

import msgspec


class HetznerNamed(msgspec.Struct, frozen=True):
    """Something that a node class names: an SSH key, a firewall."""

    id: int
    name: str


class Deprecation(msgspec.Struct, frozen=True):
    """That something ends."""

    unavailable_after: datetime | None = None


class TypeLocation(msgspec.Struct, frozen=True):
    """A place where a type is sold."""

    name: str
    available: bool = True
    deprecation: Deprecation | None = None


class Net(msgspec.Struct, frozen=True):
    """A price before taxes."""

    net: Decimal


class Price(msgspec.Struct, frozen=True):
    """What something costs in one place."""

    location: str
    price_hourly: Net
    price_monthly: Net | None = None
    """The API always says it; a list of prices may not know it."""


class ServerType(msgspec.Struct, frozen=True):
    """A type of servers."""

    name: str
    cores: int
    memory: Decimal
    """In GB, which are GiB here."""
    disk: int
    """In GB, which are 10^9 bytes."""
    architecture: str
    prices: tuple[Price, ...]
    locations: tuple[TypeLocation, ...]


class PrimaryIp(msgspec.Struct, frozen=True):
    """What public addresses cost."""

    type: str
    prices: tuple[Price, ...]


class Pricing(msgspec.Struct, frozen=True):
    """What costs besides servers."""

    currency: str
    primary_ips: tuple[PrimaryIp, ...] = ()

    @property
    def currency_code(self) -> str:
        """The currency if it is a code that objects may have, else none."""
        return self.currency if re.fullmatch("[A-Z]{3}", self.currency) else ""


class HetznerLocation(msgspec.Struct, frozen=True):
    """A place, and the network zone that it is part of."""

    name: str
    network_zone: str


class Image(msgspec.Struct, frozen=True):
    """What a server boots."""

    id: int
    architecture: str
    status: str
    name: str | None = None


class Subnet(msgspec.Struct, frozen=True):
    """A part of a network."""

    network_zone: str
    ip_range: str | None = None


class Network(msgspec.Struct, frozen=True):
    """A private network, and the servers in it."""

    id: int
    name: str
    subnets: tuple[Subnet, ...] = ()
    servers: tuple[int, ...] = ()


class PrivateNet(msgspec.Struct, frozen=True):
    """A network that a server is in."""

    network: int


class HetznerServer(msgspec.Struct, frozen=True):
    """One server."""

    id: int
    name: str
    status: str
    created: datetime
    labels: Mapping[str, str] = {}
    private_net: tuple[PrivateNet, ...] = ()


class ActionResource(msgspec.Struct, frozen=True):
    """What an action is about."""

    id: int
    type: str


class ActionError(msgspec.Struct, frozen=True):
    """Why an action failed."""

    code: str
    message: str


class Action(msgspec.Struct, frozen=True):
    """Something that went on after its answer."""

    id: int
    command: str
    started: datetime
    resources: tuple[ActionResource, ...] = ()
    error: ActionError | None = None


class PlacementGroup(msgspec.Struct, frozen=True):
    """Servers on different hosts."""

    id: int
    name: str
    created: datetime
    labels: Mapping[str, str] = {}
    servers: tuple[int, ...] = ()


class Pagination(msgspec.Struct, frozen=True):
    """Where in a listing a page is."""

    next_page: int | None = None
    total_entries: int | None = None


class Meta(msgspec.Struct, frozen=True):
    """What is told beside the entries of a listing."""

    pagination: Pagination
