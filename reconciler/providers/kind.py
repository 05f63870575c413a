"""What the reconciler's rules know about a provider kind, in one record.

Rules read the differences between clouds from here and never check which cloud they deal with. What
every process needs, such as how hours are billed, is on the node class itself
(`growth.api.nodeclass`). The clients that talk to the cloud are named and not imported, because
rules do no I/O and a client library takes a third of a second to load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from growth.api.nodeclass import NodeClass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from growth.api.written import ServerTypeName
    from reconciler.providers.hetzner.price_list import PriceList
    from reconciler.providers.port import Offering

C = TypeVar("C", bound=NodeClass)


def nothing_listed(_: NodeClass) -> None:
    """For a class without a catalogue of its own: its cloud has the catalogue."""


def id_after(scheme: str) -> Callable[[str], str | None]:
    """For a cloud whose providerIDs are this prefix and a machine's id."""

    def machine_id(provider_id: str) -> str | None:
        return provider_id.removeprefix(scheme) or None if provider_id.startswith(scheme) else None

    return machine_id


@dataclass(frozen=True, kw_only=True)
class ListedPrices(Generic[C]):
    """How `growth plan` reads a price list from a file, without access to the cloud."""

    offerings: Callable[[PriceList, C, datetime], tuple[Offering, ...]]
    estimates: Callable[[PriceList, C], frozenset[tuple[str, str]]]
    """The offers, as type and location, whose price is partly or fully an estimate."""
    why_not: Callable[[PriceList, C, ServerTypeName], str]
    """Why the class can't buy a type in any location."""


@dataclass(frozen=True, kw_only=True)
class ProviderKind(Generic[C]):
    """One provider kind."""

    node_class: type[C]
    machine_id: Callable[[str], str | None]
    """The machine id in a node's providerID, exactly as listings show it; None for a providerID of
    another cloud."""
    parts: Callable[[C, ServerTypeName, str], Mapping[str, object] | None]
    """The fields of a class that a machine of this type and architecture is created from, by their
    names in YAML. A node drifts when one of them changes. None if they aren't known."""
    own_catalogue: Callable[[C], tuple[Offering, ...] | None] = nothing_listed
    """The catalogue that is part of the class itself; None if only its cloud has it."""
    catalogue_in: Callable[[C, str, str], tuple[Offering, ...]] | None = None
    """Reads the catalogue from the text that the class refers to. The last argument says where the
    text is, for error messages."""
    listed: ListedPrices[C] | None = None
    """None for a cloud without price lists in files."""
    is_zone_told_by_nodes: bool = False
    """Whether nodes are the best source for zones, because a cloud controller sets their labels."""
    clients: str
    """The module whose `open_clients` creates the clients that talk to the cloud."""
