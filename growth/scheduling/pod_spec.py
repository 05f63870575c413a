"""The spec and status of a pod: the fields that growth reads."""

from __future__ import annotations

import msgspec

from growth.scheduling.affinity_terms import Affinity
from growth.scheduling.containers import (
    Container,
    ContainerStatus,
    ResourceRequirements,
    ResourcesInForce,
)
from growth.scheduling.metadata import ObservedCondition
from growth.scheduling.pod_volumes import Volume
from growth.scheduling.quantity import Amount
from growth.scheduling.spread_constraints import TopologySpreadConstraint
from growth.scheduling.taints import Toleration


class NamedField(msgspec.Struct, frozen=True, gc=False):
    """A scheduling gate or a resource claim, of which only the name matters."""

    name: str = ""


class PodGroupReference(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Membership in a group of pods that are scheduled together, in the form of any version."""

    pod_group_name: str | None = None
    pod_group: str | None = None
    name: str | None = None

    @property
    def group(self) -> str:
        """The name of the group, in any of its forms."""
        return self.pod_group_name or self.pod_group or self.name or ""


class PodSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The spec of a pod."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: dict[str, Amount] = {}
    resources: ResourceRequirements | None = None
    node_name: str = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    scheduler_name: str = "default-scheduler"
    priority: int = 0
    host_network: bool = False
    host_users: bool | None = None
    termination_grace_period_seconds: int | None = None
    scheduling_gates: tuple[NamedField, ...] = ()
    resource_claims: tuple[NamedField, ...] = ()
    scheduling_group: PodGroupReference | None = None
    workload_ref: PodGroupReference | None = None


class PodStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The status of a pod."""

    phase: str = ""
    start_time: str | None = None
    conditions: tuple[ObservedCondition, ...] = ()
    nominated_node_name: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ResourcesInForce | None = None
    allocated_resources: dict[str, Amount] = {}
