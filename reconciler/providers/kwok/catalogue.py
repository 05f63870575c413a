"""The catalogue of a KwokNodeClass, as offerings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling import resources
from reconciler.providers.port import Offering

if TYPE_CHECKING:
    from growth.api.kwoknodeclass import KwokNodeClass, KwokServerType, Offer

PROVIDER = "kwok"


def offerings(node_class: KwokNodeClass) -> tuple[Offering, ...]:
    """Every type in every place that it is sold in, in the order of the catalogue."""
    return tuple(
        _offering(server_type, offer)
        for server_type in node_class.spec.types
        for offer in server_type.offers
    )


def _offering(server_type: KwokServerType, offer: Offer) -> Offering:
    own_labels = {**server_type.labels, **offer.labels}
    return Offering(
        provider=PROVIDER,
        server_type=server_type.name,
        location=offer.location,
        price=offer.price,
        allocatable=resources.parse(server_type.resources),
        labels={
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": server_type.architecture.value,
            "node.kubernetes.io/instance-type": server_type.name.canonical,
            "topology.kubernetes.io/region": offer.location,
            "topology.kubernetes.io/zone": offer.location,
            **own_labels,
        },
        own_labels=dict(offer.labels),
        available=offer.available,
    )
