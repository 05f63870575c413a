"""The catalogue of a KwokNodeClass, as offerings: from the class itself, or from a ConfigMap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter, ValidationError

from growth.api.kwoknodeclass import FaultKind, KwokServerType
from growth.api.yaml_text import BrokenText, documents
from growth.errors import Misconfigured
from growth.scheduling import resources
from reconciler.providers.kwok.faults import met
from reconciler.providers.port import Offering

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from growth.api.kwoknodeclass import KwokNodeClass, KwokOffer

PROVIDER = "kwok"
_TYPES: Final = TypeAdapter(tuple[KwokServerType, ...])


def kwok_offerings(
    node_class: KwokNodeClass, types: Iterable[KwokServerType] | None = None
) -> tuple[Offering, ...]:
    """Every type in every location where it is sold, in the order of the catalogue.

    Pass `types` if they come from a ConfigMap; by default they are those of the class.
    """
    return tuple(
        _offering(
            server_type,
            offer,
            price=_price(node_class, server_type, offer),
            currency=node_class.currency,
        )
        for server_type in (node_class.spec.types if types is None else types)
        for offer in server_type.offers
    )


def types_of(text: str, *, place: str) -> tuple[KwokServerType, ...]:
    """Parse a list of types from YAML or JSON."""
    try:
        found = [each.data for each in documents(text)]
        return _TYPES.validate_python(found[0] if len(found) == 1 else None)
    except BrokenText as error:
        raise Misconfigured(f"{place}, line {error.line}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the list"
        raise Misconfigured(
            f"{place}: {where}: {first['msg']}; write a list of types as in KwokNodeClass"
        ) from None
    except (ValueError, RecursionError):
        # Of a number with thousands of digits.
        raise Misconfigured(f"{place}: a value in it can't be read") from None


def _price(node_class: KwokNodeClass, server_type: KwokServerType, offer: KwokOffer) -> Decimal:
    """The price in the catalogue, or in the last PriceChange fault that applies."""
    changes = met(
        node_class,
        FaultKind.PRICE_CHANGE,
        server_type=server_type.name,
        location=offer.location,
    )
    prices = [fault.price for _, fault in changes if fault.price is not None]
    return prices[-1] if prices else offer.price


def _offering(
    server_type: KwokServerType, offer: KwokOffer, *, price: Decimal, currency: str
) -> Offering:
    own_labels = {**server_type.labels, **offer.labels}
    return Offering(
        provider=PROVIDER,
        server_type=server_type.name,
        location=offer.location,
        price=price,
        currency=currency,
        allocatable=resources.parse_resources(server_type.resources),
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
