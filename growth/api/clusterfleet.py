"""ClusterFleet: in which regions clusters may be created, what they are like, and how many.

The clusters are created by Cluster API, from a ClusterClass.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, Strict

from growth.api.bounds import DNS_LABEL, ListMap, ListSet, NamespaceName, ObjectName, Place
from growth.api.meta import CustomResource, PrinterColumn
from growth.api.model import Model
from growth.api.rules import AnyRule, Rule, RuleBreach
from growth.api.written import Duration, between

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_CAPACITY = 10**12
Capacity = Annotated[int, Strict(), Field(ge=1, le=MOST_CAPACITY)]
"""An amount of something that instances use."""
RegionName = Annotated[str, Field(max_length=40, pattern=f"^{DNS_LABEL}$")]
"""The names of clusters begin with the name of their region."""


def _uneven(row: FleetRow) -> Iterable[RuleBreach]:
    if row.nodes % 3:
        yield RuleBreach(at=("nodes",), words={})


EVEN_NODES = Rule(
    cel="self.nodes % 3 == 0",
    text="nodes must be a multiple of three: the same number in each zone",
    breaches=_uneven,
)


class InstanceCapacity(Model):
    """The capacity that one instance needs (model T)."""

    connections: Capacity
    """Connections of one instance."""
    partitions: Capacity
    """Partitions of one instance."""


class RegionScaling(StrEnum):
    """Whether a fleet decides about nodes and clusters of a region."""

    AUTOMATIC = "Automatic"
    OFF = "Off"


class TopologyVariable(Model):
    """A variable of the ClusterClass."""

    name: Annotated[str, Field(min_length=1, max_length=256)]
    """Name of the variable."""
    value: Annotated[str, Field(max_length=4096)]
    """Its value, as JSON."""


class FleetRow(Model):
    """A region, and the clusters in it."""

    rules: ClassVar[tuple[AnyRule, ...]] = (EVEN_NODES,)

    provider: Place
    """Name of the provider, such as aws. Clusters are siblings if provider and region are the
    same."""
    region: RegionName
    """Name of the region."""
    cluster_class: ObjectName
    """The ClusterClass in the fleet's namespace."""
    worker_class: ObjectName
    """The class of compute nodes in the ClusterClass."""
    version: Annotated[str, Field(max_length=64, pattern=r"^v[0-9]+\.[0-9]+\.[0-9]+")]
    """Kubernetes version of new clusters."""
    zones: Annotated[tuple[Place, ...], Field(min_length=3, max_length=3), ListSet()]
    """The three zones that compute nodes are spread over."""
    control_plane_replicas: Annotated[int, Strict(), Field(ge=1, le=9)] = 3
    """Machines of the control plane."""
    nodes: Annotated[int, Strict(), Field(ge=3, le=3000)] = 3
    """Compute nodes of a new cluster."""
    variables: Annotated[tuple[TopologyVariable, ...], Field(max_length=64), ListMap("name")] = ()
    """Variables of the ClusterClass."""
    scaling: RegionScaling = RegionScaling.AUTOMATIC
    """Automatic: reports add and remove nodes and clusters. Off: clusters with a ready agent are
    ready."""
    most: Annotated[int, Strict(), Field(ge=0, le=1000)] = 10
    """The most clusters in the region."""


class ClusterFleetSpec(Model):
    """Where clusters may be, and what they are like."""

    namespace: NamespaceName
    """The namespace of the clusters and their ClusterClasses."""
    model_t: InstanceCapacity
    """The capacity that one instance needs."""
    provisioning_deadline: Annotated[Duration, between("5m", "24h")] = Duration.parse("2h")
    """How long a new cluster may take. After that it has failed."""
    regions: Annotated[
        tuple[FleetRow, ...], Field(min_length=1, max_length=32), ListMap("provider", "region")
    ]
    """The regions. A region that another fleet has, too, belongs to the one whose name is first."""


class ClusterFleetStatus(Model):
    """What has become of the fleet."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status describes."""
    clusters: Annotated[int, Field(ge=0)] = 0
    """How many clusters it has."""
    ready: Annotated[int, Field(ge=0)] = 0
    """How many of them have room."""
    full: Annotated[int, Field(ge=0)] = 0
    """How many of them are full."""
    failed: Annotated[int, Field(ge=0)] = 0
    """How many of them have failed."""


class ClusterFleet(CustomResource):
    """Clusters that report their capacity, and grow, come and go by it."""

    kind_names: ClassVar[tuple[str, str, str]] = ("clusterfleets", "clusterfleet", "cfl")
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Clusters", "integer", ".status.clusters"),
        PrinterColumn("Room", "integer", ".status.ready"),
        PrinterColumn("Full", "integer", ".status.full"),
        PrinterColumn("Failed", "integer", ".status.failed"),
    )

    kind: Literal["ClusterFleet"] = "ClusterFleet"
    """ClusterFleet."""
    spec: ClusterFleetSpec
    """Where clusters may be, and what they are like."""
    status: ClusterFleetStatus = ClusterFleetStatus()
    """What has become of the fleet, written by growth."""
