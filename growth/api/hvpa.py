"""Hvpa: how many replicas of what size a workload should have.

HPA and VPA recommend; intervals of totals decide. The rule is `sizing/rule`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from growth.api import hvpa_rules
from growth.api.bounds import Atomic, Count, Flag, ListMap, ObjectName
from growth.api.hvpa_status import HvpaStatus
from growth.api.meta import CustomResource, NamespacedMeta, PrinterColumn
from growth.api.model import Model
from growth.api.rules import AnyRule
from growth.api.written import Duration, Quantity, between

TIME_OF_DAY_PATTERN: Final = (
    "^([01][0-9]|2[0-3])([0-5][0-9])([0-5][0-9])([+-])([01][0-9]|2[0-3])([0-5][0-9])$"
)
TimeInWindow = Annotated[str, Field(max_length=11, pattern=TIME_OF_DAY_PATTERN)]
"""HHMMSS+ZZZZ, such as 220000+0200."""


class WorkloadReference(Model):
    """A workload in the namespace of the object."""

    api_version: Annotated[str, Field(max_length=253)]
    """Group and version of the workload, such as apps/v1."""
    kind: Annotated[str, Field(min_length=1, max_length=63)]
    """Kind of the workload, such as Deployment."""
    name: ObjectName
    """Name of the workload."""


class SizeOfPod(Model):
    """Amounts of one pod."""

    cpu: Quantity | None = None
    """CPU."""
    memory: Quantity | None = None
    """Memory."""


class ChangeParams(Model):
    """An absolute amount, a percentage of another amount, or both."""

    value: Quantity | None = None
    """The absolute amount."""
    percentage: Annotated[int, Field(ge=0, le=1000)] | None = None
    """The percentage."""


class ResourceChanges(Model):
    """An amount for each resource."""

    cpu: ChangeParams | None = None
    """For CPU."""
    memory: ChangeParams | None = None
    """For memory."""


class Extrapolation(StrEnum):
    """How an entry stands for several intervals."""

    SINGLE = "single"
    """It doesn't: it is one interval, with exactly its replicas."""
    LINEAR = "linear"
    """One interval for each number of replicas, with equal parts of the entry's total."""
    HORIZONTAL_ONLY = "horizontalOnly"
    """One interval for each number of replicas; a pod has the same size in all of them."""


class ScalingInterval(Model):
    """A range of totals (replicas times size of a pod) with its replicas."""

    max_replicas: Annotated[Count, Field(ge=1)] | None = None
    """The replicas of this interval. Unset means maxReplicas of the HPA."""
    max_resources: SizeOfPod | None = None
    """The most that one pod gets in this interval. Unset means maxAllowed of the VPA."""
    effective_interval_extrapolation: Extrapolation = Extrapolation.SINGLE
    """single: one interval with maxReplicas. linear: one for each number of replicas after the
    interval before, with equal parts of the total. horizontalOnly: the same, but pods always have
    the size of maxResources."""


class UpdateMode(StrEnum):
    """When changes of one direction are made."""

    AUTO = "Auto"
    OFF = "Off"
    MAINTENANCE_WINDOW = "MaintenanceWindow"


class UpdatePolicy(Model):
    """When changes are made."""

    update_mode: UpdateMode = UpdateMode.AUTO
    """Auto (at any time), Off (never), MaintenanceWindow (only in the maintenanceTimeWindow)."""


class Combine(StrEnum):
    """Which counts if there are an absolute amount and a percentage."""

    MAX = "max"
    MIN = "min"


MIN_CHANGE: Final = ResourceChanges(
    cpu=ChangeParams(value="200m"), memory=ChangeParams(value="200M")
)


class ScaleType(Model):
    """How changes of one direction are made. All amounts are totals of the workload."""

    update_policy: UpdatePolicy = UpdatePolicy()
    """When changes are made."""
    min_change: ResourceChanges = MIN_CHANGE
    """Smaller changes of the totals aren't made, unless another resource changes by more."""
    combine: Combine = Combine.MAX
    """max: the larger of value and percentage of minChange counts. min: the smaller one."""
    stabilization_duration: Annotated[Duration, between("0s", "24h")] = Duration.parse("0s")
    """How long nothing changes in this direction after a change."""


class MaintenanceTimeWindow(Model):
    """A time of every day. It may contain midnight."""

    begin: TimeInWindow
    """When it begins, as HHMMSS+ZZZZ, such as 220000+0200."""
    end: TimeInWindow
    """When it ends, in the same form."""


class HpaTemplate(Model):
    """The part of a HorizontalPodAutoscaler that sizing reads."""

    max_replicas: Annotated[Count, Field(ge=1)] | None = None
    """For intervals without maxReplicas."""


class HpaSource(Model):
    """The HorizontalPodAutoscaler, which recommends replicas."""

    deploy: Flag = True
    """Whether it recommends."""
    template: HpaTemplate = HpaTemplate()
    """What it is like."""


class ContainerScalingMode(StrEnum):
    """Whether a container's size changes."""

    AUTO = "Auto"
    OFF = "Off"


class ContainerPolicy(Model):
    """The bounds of one container."""

    container_name: Annotated[str, Field(min_length=1, max_length=63)]
    """Name of the container; * is for all that have no entry of their own."""
    mode: ContainerScalingMode = ContainerScalingMode.AUTO
    """Off: the size of this container stays. The HPA still counts for the replicas."""
    min_allowed: SizeOfPod = SizeOfPod()
    """It never gets less."""
    max_allowed: SizeOfPod = SizeOfPod()
    """It never gets more. Also for intervals without maxResources."""


class ResourcePolicy(Model):
    """The bounds of the containers."""

    container_policies: Annotated[
        tuple[ContainerPolicy, ...], Field(max_length=32), ListMap("containerName")
    ] = ()
    """The bounds of each container."""


class VpaTemplate(Model):
    """The part of a VerticalPodAutoscaler that sizing reads."""

    resource_policy: ResourcePolicy = ResourcePolicy()
    """The bounds of the containers."""


class VpaSource(Model):
    """The VerticalPodAutoscaler, which recommends the sizes of pods."""

    deploy: Flag = True
    """Whether it recommends."""
    template: VpaTemplate = VpaTemplate()
    """What it is like."""


class HvpaSpec(Model):
    """The intervals of a workload's size, and how changes are made."""

    rules: ClassVar[tuple[AnyRule, ...]] = hvpa_rules.SPEC

    target_ref: WorkloadReference
    """The workload. Immutable."""
    hpa: HpaSource = HpaSource()
    """The HorizontalPodAutoscaler, which recommends replicas."""
    vpa: VpaSource = VpaSource()
    """The VerticalPodAutoscaler, which recommends the sizes of pods."""
    scaling_intervals: Annotated[
        tuple[ScalingInterval, ...], Field(min_length=1, max_length=64), Atomic()
    ]
    """Adjacent ranges of totals, from the smallest to the largest."""
    scaling_intervals_overlap: ResourceChanges = ResourceChanges()
    """How far below its lower end an interval is kept on the way down, as an amount or as a
    percentage of that end. The larger of both counts."""
    base_resources_per_replica: ResourceChanges = ResourceChanges()
    """What each replica needs whatever its load, as an amount or as a percentage of its size. It is
    counted when the number of replicas changes."""
    limits_requests_gap_scale_params: ResourceChanges = ResourceChanges()
    """How far the limits of all replicas together are above their requests. Unset means that each
    limit keeps its ratio to the request."""
    scale_up: ScaleType = ScaleType()
    """How changes are made if a total rises."""
    scale_down: ScaleType = ScaleType()
    """How changes are made if no total rises."""
    maintenance_time_window: MaintenanceTimeWindow | None = None
    """For the update mode MaintenanceWindow."""


class Hvpa(CustomResource):
    """How many replicas of what size a workload should have."""

    kind_names: ClassVar[tuple[str, str, str]] = ("hvpas", "hvpa", "hvpa")
    is_namespaced: ClassVar[bool] = True
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Target", "string", ".spec.targetRef.name"),
        PrinterColumn("Replicas", "integer", ".status.current.replicas"),
        PrinterColumn("Desired", "integer", ".status.desired.replicas"),
        PrinterColumn("By", "string", ".status.decidedBy.source"),
    )

    kind: Literal["Hvpa"] = "Hvpa"
    """Hvpa."""
    metadata: NamespacedMeta = NamespacedMeta()
    """Name, namespace, labels and other metadata."""
    spec: HvpaSpec
    """The intervals of the workload's size, and how changes are made."""
    status: HvpaStatus = HvpaStatus()
    """What is seen of the workload and decided about its size, written by growth."""
