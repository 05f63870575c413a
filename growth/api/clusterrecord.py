"""ClusterRecord: what growth knows of one cluster of a fleet, from the decision to its end.

Cluster API's Cluster has the same name, and a label with the uid of its record.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from growth.api.bounds import Flag, ObjectName, Place
from growth.api.cluster_state import ClusterState
from growth.api.clusterfleet import RegionName
from growth.api.meta import CustomResource, PrinterColumn
from growth.api.model import Model
from growth.api.rule_patterns import never_changes
from growth.api.rules import AnyRule  # noqa: TC001 - as in other kinds
from growth.api.written import Timestamp

IMMUTABLE = never_changes("spec", text="spec is immutable: it says where the cluster was created")


class ClusterRecordSpec(Model):
    """What is true of a cluster as long as it exists."""

    fleet: ObjectName
    """The ClusterFleet that wanted it."""
    provider: Place
    """Its provider."""
    region: RegionName
    """Its region."""
    multi_az: Annotated[Flag, Field(alias="multiAZ")] = True
    """Whether its compute nodes are spread over three zones."""


class ClusterRecordStatus(Model):
    """What a cluster is doing."""

    state: ClusterState = ClusterState.ACCEPTED
    """The state of the cluster."""
    since: Timestamp | None = None
    """When it came into this state."""
    asked_to_go: Flag = False
    """Whether its deletion was asked for, which can't be taken back."""
    soft_deleted: Flag = False
    """Whether it counts as gone. Its reports are refused, and its provider may still be deleting
    it."""


class ClusterRecord(CustomResource):
    """What growth knows of one cluster. Deleting it deletes the cluster."""

    rules: ClassVar[tuple[AnyRule, ...]] = (IMMUTABLE,)
    kind_names: ClassVar[tuple[str, str, str]] = ("clusterrecords", "clusterrecord", "crec")
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Fleet", "string", ".spec.fleet"),
        PrinterColumn("Provider", "string", ".spec.provider"),
        PrinterColumn("Region", "string", ".spec.region"),
        PrinterColumn("State", "string", ".status.state"),
        PrinterColumn("Since", "date", ".status.since"),
    )

    kind: Literal["ClusterRecord"] = "ClusterRecord"
    """ClusterRecord."""
    spec: ClusterRecordSpec
    """What is true of the cluster as long as it exists. Immutable."""
    status: ClusterRecordStatus = ClusterRecordStatus()
    """What the cluster is doing, written by growth."""
