"""What the reconciler's rules know of a kind of provider, in one record.

Rules take what differs between clouds from here and never ask which cloud they deal with. What
every process may ask, such as how hours are billed, stands on the node class itself
(`growth.api.nodeclass`); the clients that talk to the cloud are named and not imported, as rules do
no I/O and a client library takes a third of a second to load.
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
    """Of a class that lists nothing itself: its cloud has to be asked."""


def id_after(scheme: str) -> Callable[[str], str | None]:
    """Of a cloud whose providerIDs are this text and a machine's id."""

    def machine_id(provider_id: str) -> str | None:
        return provider_id.removeprefix(scheme) or None if provider_id.startswith(scheme) else None

    return machine_id


@dataclass(frozen=True, kw_only=True)
class ListedPrices(Generic[C]):
    """How `growth plan` reads a list of prices in a file, where no cloud can be asked."""

    offerings: Callable[[PriceList, C, datetime], tuple[Offering, ...]]
    estimates: Callable[[PriceList, C], frozenset[tuple[str, str]]]
    """The offers, as type and place, whose price is an estimate in some part."""
    why_not: Callable[[PriceList, C, ServerTypeName], str]
    """Why a type is offered nowhere."""


@dataclass(frozen=True, kw_only=True)
class ProviderKind(Generic[C]):
    """One kind of cloud."""

    node_class: type[C]
    machine_id: Callable[[str], str | None]
    """The id of the machine that a node's providerID names, exactly as listings tell it; None where
    it names none of this cloud's."""
    parts: Callable[[C, ServerTypeName, str], Mapping[str, object] | None]
    """What of a class a machine of this type and architecture is made from, by the names of YAML:
    a node drifts when it changes. None where that can't be told."""
    own_catalogue: Callable[[C], tuple[Offering, ...] | None] = nothing_listed
    """The catalogue that is written in the class itself; None where its cloud has to be asked."""
    catalogue_in: Callable[[C, str, str], tuple[Offering, ...]] | None = None
    """The catalogue in the text that the class refers to, and where that is, for mistakes in it."""
    listed: ListedPrices[C] | None = None
    """None where prices are never in a list of their own."""
    is_zone_told_by_nodes: bool = False
    """Whether zones are best known from nodes, as a cloud controller of the cluster names them."""
    clients: str
    """The module whose `open_clients` makes what talks to the cloud."""
