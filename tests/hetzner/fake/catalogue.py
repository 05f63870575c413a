"""What the fake sells: a few types of each family, in the places of one network zone and another.

Prices, sizes and places are close to the real ones, and none of them is asserted anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PLACES = {"nbg1": "eu-central", "fsn1": "eu-central", "hel1": "eu-central", "ash": "us-east"}
EUROPE = ("nbg1", "fsn1", "hel1")
PRIMARY_IPV4_HOURLY = "0.0008"
PRIMARY_IPV4_MONTHLY = "0.5000"


@dataclass(kw_only=True)
class ServerType:
    """One type, sold in some places; tests change what is said of it."""

    id: int
    name: str
    cores: int
    memory: float
    disk: int
    hourly: str
    monthly: str
    architecture: str = "x86"
    cpu_type: str = "shared"
    places: tuple[str, ...] = EUROPE
    unavailable: frozenset[str] = frozenset()
    """Places where the API says that there is none now (which may be wrong)."""
    retired: str | None = None
    """When it can no longer be made (RFC 3339)."""

    def as_json(self) -> dict[str, Any]:
        """As the API tells it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.name.upper(),
            "category": "cost_optimized",
            "cores": self.cores,
            "memory": self.memory,
            "disk": self.disk,
            "architecture": self.architecture,
            "cpu_type": self.cpu_type,
            "storage_type": "local",
            "deprecated": self.retired is not None,
            "prices": [self._price(place) for place in self.places],
            "locations": [self._location(place) for place in self.places],
        }

    def _price(self, place: str) -> dict[str, Any]:
        return {
            "location": place,
            "price_hourly": {"net": self.hourly, "gross": self.hourly},
            "price_monthly": {"net": self.monthly, "gross": self.monthly},
            "included_traffic": 21990232555520,
            "price_per_tb_traffic": {"net": "1.0", "gross": "1.19"},
        }

    def _location(self, place: str) -> dict[str, Any]:
        ending = {"announced": "2025-10-01T00:00:00Z", "unavailable_after": self.retired}
        return {
            "id": 1 + list(PLACES).index(place),
            "name": place,
            "available": place not in self.unavailable,
            "recommended": place not in self.unavailable,
            "deprecation": ending if self.retired else None,
        }


def server_types() -> dict[str, ServerType]:
    """The types by name, anew for each project."""
    everywhere = tuple(PLACES)
    types = (
        ServerType(id=1, name="cx23", cores=2, memory=4, disk=40, hourly="0.0088", monthly="5.49"),
        ServerType(id=2, name="cx33", cores=4, memory=8, disk=80, hourly="0.0136", monthly="8.49"),
        ServerType(
            id=3,
            name="cpx32",
            cores=4,
            memory=8,
            disk=160,
            hourly="0.0570",
            monthly="35.49",
            places=everywhere,
        ),
        ServerType(
            id=4,
            name="cax11",
            cores=2,
            memory=4,
            disk=40,
            hourly="0.0060",
            monthly="3.79",
            architecture="arm",
            places=("nbg1", "fsn1"),
        ),
        ServerType(
            id=5,
            name="ccx13",
            cores=2,
            memory=8,
            disk=80,
            hourly="0.0689",
            monthly="42.99",
            cpu_type="dedicated",
            places=everywhere,
        ),
    )
    return {each.name: each for each in types}


def locations() -> list[dict[str, Any]]:
    """The places, each with its network zone."""
    return [
        {"id": number, "name": name, "network_zone": zone, "city": name, "country": "XX"}
        for number, (name, zone) in enumerate(PLACES.items(), start=1)
    ]


def pricing() -> dict[str, Any]:
    """What costs besides servers."""
    address = [
        {
            "location": place,
            "price_hourly": {"net": PRIMARY_IPV4_HOURLY, "gross": PRIMARY_IPV4_HOURLY},
            "price_monthly": {"net": PRIMARY_IPV4_MONTHLY, "gross": PRIMARY_IPV4_MONTHLY},
        }
        for place in PLACES
    ]
    return {
        "currency": "EUR",
        "vat_rate": "19.00",
        "primary_ips": [{"type": "ipv4", "prices": address}, {"type": "ipv6", "prices": []}],
    }
