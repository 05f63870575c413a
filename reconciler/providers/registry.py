"""All provider kinds. To add one, add a package beside this module and an entry here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reconciler.providers.hetzner.kind import HETZNER
from reconciler.providers.kwok.kind import KWOK

if TYPE_CHECKING:
    from growth.api.nodeclass import NodeClass
    from reconciler.providers.kind import ProviderKind

PROVIDERS: Final[dict[str, ProviderKind[Any]]] = {
    each.node_class.__name__: each for each in (HETZNER, KWOK)
}
"""By the kind of their node classes."""


def provider_kind(node_class: NodeClass) -> ProviderKind[Any]:
    """The provider kind of a node class."""
    return PROVIDERS[node_class.kind]


def provider_of_offering(name: str) -> ProviderKind[Any] | None:
    """The provider kind of an offering such as hetzner-cax11; None if no kind matches."""
    provider = name.partition("-")[0]
    return next((each for each in PROVIDERS.values() if each.node_class.provider == provider), None)
