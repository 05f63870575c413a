"""What the rules know about Hetzner Cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.scheduling.resources import parse_resources
from reconciler.providers.hetzner import listed
from reconciler.providers.hetzner.catalogue import hetzner_offerings
from reconciler.providers.kind import ListedPrices, ProviderKind, id_after

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from growth.api.written import ServerTypeName
    from reconciler.providers.hetzner.price_list import PriceList
    from reconciler.providers.port import Offering

ARM: Final = "arm64"
OF_THE_ASKING: Final = frozenset(
    {"tokenSecretRef", "bootstrap.tokenFrom", "bootstrap.tokenSecretRef"}
)
"""Fields that say where tokens are. A renewed token doesn't make nodes drift."""
UNORDERED: Final = frozenset({"sshKeys", "firewalls"})
"""Sets. Networks aren't one, because the first network is special."""


def _parts(
    node_class: HetznerNodeClass, _: ServerTypeName, architecture: str
) -> Mapping[str, object]:
    said = node_class.spec.model_dump(mode="json", exclude_defaults=True)
    images, bootstrap = said.pop("images"), said.pop("bootstrap")
    # As amounts: a class that says 250m where it said 0.25 hasn't changed.
    if reserved := bootstrap.get("kubelet", {}).get("reserved"):
        bootstrap["kubelet"]["reserved"] = dict(parse_resources(reserved).amounts)
    flat = {**said, **{f"bootstrap.{name}": value for name, value in bootstrap.items()}}
    return {"image": images.get("arm" if architecture == ARM else "x86", "")} | {
        name: sorted(value) if name in UNORDERED else value
        for name, value in sorted(flat.items())
        if name not in OF_THE_ASKING
    }


def _offerings(
    prices: PriceList, node_class: HetznerNodeClass, now: datetime
) -> tuple[Offering, ...]:
    # The list doesn't have networks and their zones, so the pool's locations narrow the offerings.
    sold = listed.catalogue(prices)
    return hetzner_offerings(sold, node_class.spec, networks=(), now=now)


def _estimates(prices: PriceList, node_class: HetznerNodeClass) -> frozenset[tuple[str, str]]:
    return listed.estimates(prices, node_class.spec)


def _why_not(prices: PriceList, node_class: HetznerNodeClass, name: ServerTypeName) -> str:
    return listed.why_not(prices, node_class.spec, name)


HETZNER: Final = ProviderKind(
    node_class=HetznerNodeClass,
    machine_id=id_after("hcloud://"),
    parts=_parts,
    listed=ListedPrices(offerings=_offerings, estimates=_estimates, why_not=_why_not),
    is_zone_told_by_nodes=True,
    clients="reconciler.providers.hetzner.clients",
)
