"""What the rules know about simulated machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.kwoknodeclass import KwokNodeClass
from growth.scheduling.resources import parse_resources
from reconciler.providers.kind import ProviderKind
from reconciler.providers.kwok.catalogue import kwok_offerings, types_of
from reconciler.providers.kwok.machines import SCHEME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.written import ServerTypeName
    from reconciler.providers.port import Offering


def _parts(
    node_class: KwokNodeClass, server_type: ServerTypeName, _: str
) -> Mapping[str, object] | None:
    """The type as the class lists it. The class is also the catalogue, so it includes sizes."""
    found = next((each for each in node_class.spec.types if each.name == server_type), None)
    if found is None:
        # It is in a ConfigMap, or no longer sold.
        return None
    said: dict[str, object] = {
        "resources": dict(parse_resources(dict(found.resources)).amounts),
        "architecture": found.architecture.value,
        "labels": dict(found.labels),
    }
    return {name: value for name, value in said.items() if value}


def _own_catalogue(node_class: KwokNodeClass) -> tuple[Offering, ...] | None:
    return None if node_class.spec.catalogue_from else kwok_offerings(node_class)


def _catalogue_in(node_class: KwokNodeClass, text: str, place: str) -> tuple[Offering, ...]:
    return kwok_offerings(node_class, types_of(text, place=place))


def _machine_id(provider_id: str) -> str | None:
    """The whole providerID, because a KWOK machine is its node."""
    return provider_id if provider_id.startswith(SCHEME) else None


KWOK: Final = ProviderKind(
    node_class=KwokNodeClass,
    machine_id=_machine_id,
    parts=_parts,
    own_catalogue=_own_catalogue,
    catalogue_in=_catalogue_in,
    clients="reconciler.providers.kwok.clients",
)
