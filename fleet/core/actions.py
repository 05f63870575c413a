"""What can be done to clusters, as data. Rules decide on it, effects carry it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from fleet.core.clusters import FleetCluster
    from fleet.core.states import ClusterState


@dataclass(frozen=True)
class CreateRecord:
    """Write down a new cluster. Nothing has been asked of the provider yet."""

    record: FleetCluster


@dataclass(frozen=True)
class SetState:
    """Write down another state of a cluster."""

    name: str
    state: ClusterState


@dataclass(frozen=True)
class CreateCluster:
    """Ask the provider for the cluster of a record."""

    name: str


@dataclass(frozen=True)
class Equip:
    """Install in a new cluster what each cluster gets, such as its agent."""

    name: str


@dataclass(frozen=True)
class SetNodes:
    """Have this many compute nodes."""

    name: str
    nodes: int


@dataclass(frozen=True)
class DeleteCluster:
    """Ask the provider to delete a cluster. One that isn't there counts as deleted."""

    name: str


@dataclass(frozen=True)
class SoftDelete:
    """Write down that a cluster is gone, so that its reports are refused."""

    name: str


@dataclass(frozen=True)
class RemoveIdentity:
    """Remove the client that the cluster had at the identity provider."""

    name: str


@dataclass(frozen=True)
class RemoveAgentAccount:
    """Remove the account of the cluster's agent."""

    name: str


@dataclass(frozen=True)
class DropRecord:
    """Forget a cluster of which nothing is left."""

    name: str


FleetAction: TypeAlias = (
    CreateRecord
    | SetState
    | CreateCluster
    | Equip
    | SetNodes
    | DeleteCluster
    | SoftDelete
    | RemoveIdentity
    | RemoveAgentAccount
    | DropRecord
)
ClusterSequence: TypeAlias = tuple[FleetAction, ...]
"""Actions on one cluster in order, up to the first that fails."""
