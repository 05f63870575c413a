"""What can be bought: types in locations, at net prices that include a public IPv4 address if used.

A type that the API marks as unavailable only moves to the end of the list, because the mark is
often wrong in both directions. The refusals of the account are reliable, and planning remembers
them. A retired type can't be created and isn't offered. A node has less memory and disk than the
catalogue says. The first estimate uses measurements on such machines; once a node of the type has
joined, growth uses what that node has.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.written import ServerTypeName
from growth.scheduling import resources
from growth.scheduling.quantity import units
from growth.scheduling.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources
from reconciler.providers.hetzner.wire import HetznerLocation, Pricing, ServerType
from reconciler.providers.port import Offering, SharedNetwork

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from growth.api.hetznernodeclass import HetznerNodeClassSpec, Kubelet
    from reconciler.providers.hetzner.wire import Network, Price, TypeLocation

PROVIDER: Final = "hetzner"
ARCHITECTURES: Final = {"x86": "amd64", "arm": "arm64"}
ZONES: Final = {
    "nbg1": "nbg1-dc3",
    "hel1": "hel1-dc2",
    "fsn1": "fsn1-dc14",
    "ash": "ash-dc1",
    "hil": "hil-dc1",
    "sin": "sin-dc1",
}
"""The zone labels that Hetzner's cloud controller manager sets: names of former data centres."""
SERVERS_IN_NETWORK: Final = 100
USABLE_MEMORY: Final = Decimal("0.93")
"""The usable part of the memory: kernel and firmware took 4.66 to 6.87% on cx and cpx types."""
USABLE_DISK: Final = Decimal("0.98")
"""The usable part of the disk: the file system takes about 2%."""


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """What Hetzner sells, as last read."""

    types: tuple[ServerType, ...]
    locations: tuple[HetznerLocation, ...]
    pricing: Pricing

    def architecture_of(self, name: ServerTypeName) -> str:
        """Hetzner's name for the architecture of a type; empty for a type that isn't sold."""
        return next(
            (each.architecture for each in self.types if each.name.lower() == name.canonical), ""
        )


def hetzner_offerings(
    catalogue: Catalogue,
    spec: HetznerNodeClassSpec,
    *,
    networks: Iterable[Network],
    now: datetime,
) -> tuple[Offering, ...]:
    """What this class can buy, by fewest doubts, then by name and location."""
    rooms = tuple(networks)
    found = [
        (_doubts(place), server_type.name, place.name, offering)
        for server_type in catalogue.types
        if image_for(spec, server_type.architecture) is not None
        for place in server_type.locations
        if not _is_retired(place, now)
        for offering in _offering(catalogue, spec, server_type, place, rooms)
    ]
    return tuple(offering for *_, offering in sorted(found, key=lambda each: each[:3]))


def image_for(spec: HetznerNodeClassSpec, architecture: str) -> str | None:
    """The image that the class names for an architecture."""
    return {"x86": spec.images.x86, "arm": spec.images.arm}.get(architecture)


def allocatable(server_type: ServerType, kubelet: Kubelet) -> Resources:
    """The first estimate of a node's allocatable resources."""
    # Too much here has let other autoscalers buy node after node for a pod that fitted none of
    # them.
    memory = int(server_type.memory * 2**30 * USABLE_MEMORY)
    disk = int(server_type.disk * 10**9 * USABLE_DISK)
    evictions = kubelet.eviction_hard
    # 100Mi and 10% are the kubelet's own defaults.
    kept = Resources(
        {
            MEMORY: _threshold(evictions.get("memory.available", "100Mi"), of=memory),
            EPHEMERAL_STORAGE: _threshold(evictions.get("nodefs.available", "10%"), of=disk),
        }
    )
    whole = Resources(
        {
            CPU: server_type.cores * 1000,
            MEMORY: memory,
            EPHEMERAL_STORAGE: disk,
            PODS: kubelet.max_pods,
        }
    )
    return whole - kept - resources.parse_resources(kubelet.reserved)


def zone_of(location: str, locations: Iterable[HetznerLocation]) -> str:
    """The network zone of a location; empty for an unknown location."""
    return next((each.network_zone for each in locations if each.name == location), "")


def _offering(
    catalogue: Catalogue,
    spec: HetznerNodeClassSpec,
    server_type: ServerType,
    place: TypeLocation,
    networks: tuple[Network, ...],
) -> Iterator[Offering]:
    """The offering in this location, if it has a price and the class's networks reach it."""
    price = _price_in(place.name, server_type.prices)
    address = _address_in(place.name, catalogue.pricing) if spec.public_ipv4 else None
    zone = zone_of(place.name, catalogue.locations)
    if price is None or not all(zone in _zones(network) for network in networks):
        return
    extra_hourly = address.price_hourly.net if address else Decimal(0)
    yield Offering(
        provider=PROVIDER,
        server_type=ServerTypeName.parse(server_type.name),
        location=place.name,
        # Net: the tax depends on the account, and is the same share of each price.
        price=price.price_hourly.net + extra_hourly,
        currency=catalogue.pricing.currency_code,
        monthly_cap=_cap(price, address),
        allocatable=allocatable(server_type, spec.bootstrap.kubelet),
        labels=_labels(server_type, place.name),
        rooms=tuple(_room(network) for network in networks),
        doubts=_doubts(place),
    )


def _cap(price: Price, address: Price | None) -> Decimal | None:
    """The maximum price for a month; None if a part of it isn't known."""
    months = [each.price_monthly for each in (price, address) if each is not None]
    return (
        sum((each.net for each in months if each is not None), Decimal(0)) if all(months) else None
    )


def _doubts(place: TypeLocation) -> int:
    return int(not place.available) + int(place.deprecation is not None)


def _is_retired(place: TypeLocation, now: datetime) -> bool:
    end = place.deprecation.unavailable_after if place.deprecation else None
    return end is not None and end <= now


def _price_in(location: str, prices: Iterable[Price]) -> Price | None:
    # A price of zero is a mistake in the price list, and growth would buy such a type first.
    return next(
        (each for each in prices if each.location == location and each.price_hourly.net > 0), None
    )


def _address_in(location: str, pricing: Pricing) -> Price | None:
    prices = (price for each in pricing.primary_ips if each.type == "ipv4" for price in each.prices)
    return _price_in(location, prices)


def _zones(network: Network) -> frozenset[str]:
    return frozenset(subnet.network_zone for subnet in network.subnets)


def _room(network: Network) -> SharedNetwork:
    return SharedNetwork(
        name=f"network {network.name} ({network.id})",
        most=SERVERS_IN_NETWORK,
        taken=frozenset(str(number) for number in network.servers),
    )


def _labels(server_type: ServerType, location: str) -> Mapping[str, str]:
    return {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": ARCHITECTURES[server_type.architecture],
        "node.kubernetes.io/instance-type": server_type.name,
        "topology.kubernetes.io/region": location,
        "topology.kubernetes.io/zone": ZONES.get(location, location),
        "csi.hetzner.cloud/location": location,
        "instance.hetzner.cloud/provided-by": "cloud",
    }


def _threshold(written: str, *, of: int) -> int:
    share = re.fullmatch(r"([0-9.]+)%", written)
    return int(of * Decimal(share[1]) / 100) if share else units(written)
