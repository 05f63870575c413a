"""A pod: what is read of it, and what follows from it.

What follows (effective requests, compiled selectors, ports, claims) is worked out at the first
question and then kept with the object. A pod object of the watch cache is replaced when the pod
changes, so this happens once for each event that matters and never while a World is made.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling import (
    affinity_terms,
    node_affinity,
    pod_volumes,
    ports,
    requests,
    spread_constraints,
)
from growth.scheduling.affinity_terms import Affinity, Term
from growth.scheduling.containers import Container, ContainerStatus, ResourceRequirements
from growth.scheduling.metadata import Metadata
from growth.scheduling.pod_volumes import ClaimUse, Volume
from growth.scheduling.quantity import Amount
from growth.scheduling.spread_constraints import SpreadConstraint, TopologySpreadConstraint
from growth.scheduling.taints import Toleration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.node_affinity import WantedNodes
    from growth.scheduling.ports import HostPort
    from growth.scheduling.resources import Resources

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"


class Named(msgspec.Struct, frozen=True, gc=False):
    """A scheduling gate or a resource claim: what matters is its name."""

    name: str = ""


class PodGroupReference(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Membership in a group that is scheduled together (two forms, by version)."""

    pod_group_name: str | None = None
    pod_group: str | None = None
    name: str | None = None

    @property
    def group(self) -> str:
        """The group's name in whichever form it came."""
        return self.pod_group_name or self.pod_group or self.name or ""


class PodSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a pod asks for."""

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
    preemption_policy: str | None = None
    host_network: bool = False
    host_users: bool | None = None
    restart_policy: str | None = None
    termination_grace_period_seconds: int | None = None
    scheduling_gates: tuple[Named, ...] = ()
    resource_claims: tuple[Named, ...] = ()
    scheduling_group: PodGroupReference | None = None
    workload_ref: PodGroupReference | None = None


class Condition(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One thing that is said of an object, and since when."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class PodStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What has become of a pod."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Amount] = {}


class Pod(msgspec.Struct, frozen=True, dict=True):
    """A pod, with its derived values."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def name(self) -> str:
        """Namespace and name, as people write it."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def place(self) -> str:
        """The node that it takes room on: where it is bound, else where it is nominated."""
        return self.spec.node_name or self.status.nominated_node_name

    @property
    def is_finished(self) -> bool:
        """Whether it has ended for good and holds nothing any more."""
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def is_terminating(self) -> bool:
        """Whether its deletion was asked for; until it is gone it holds what it has."""
        return self.metadata.deletion_timestamp is not None

    @property
    def is_static(self) -> bool:
        """Whether it is a kubelet's own pod, which the API server only mirrors."""
        return MIRROR_ANNOTATION in self.metadata.annotations or self._is_controlled_by("Node")

    @property
    def is_of_daemon_set(self) -> bool:
        """Whether a DaemonSet controls it."""
        return self._is_controlled_by("DaemonSet")

    def _is_controlled_by(self, kind: str) -> bool:
        controller = self.metadata.controller
        return controller is not None and controller.kind == kind

    @cached_property
    def requests(self) -> Resources:
        """What it takes of its node, or will take of one."""
        if self.spec.node_name:
            return requests.bound(self.spec, self.status)
        return requests.pending(self.spec)

    @cached_property
    def wanted_nodes(self) -> WantedNodes:
        """Its node selector and required node affinity."""
        affinity = self.spec.affinity
        return node_affinity.wanted_nodes(
            self.spec.node_selector, affinity.node_affinity if affinity else None
        )

    @cached_property
    def affinity_terms(self) -> tuple[Term, ...]:
        """The pods that it must be near."""
        affinity = self.spec.affinity
        return affinity_terms.compiled(affinity.pod_affinity if affinity else None, self.metadata)

    @cached_property
    def anti_affinity_terms(self) -> tuple[Term, ...]:
        """The pods that it must not be near."""
        affinity = self.spec.affinity
        return affinity_terms.compiled(
            affinity.pod_anti_affinity if affinity else None, self.metadata
        )

    @cached_property
    def spread_constraints(self) -> tuple[SpreadConstraint, ...]:
        """How evenly its like must be spread."""
        return spread_constraints.compiled(
            self.spec.topology_spread_constraints, self.metadata.labels
        )

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The ports of the node that it takes, from containers and sidecars."""
        sidecars = (each for each in self.spec.init_containers if each.is_sidecar)
        return ports.host_ports(
            port for each in (*sidecars, *self.spec.containers) for port in each.ports or ()
        )

    @cached_property
    def claims(self) -> tuple[ClaimUse, ...]:
        """The claims that it mounts."""
        return pod_volumes.claims(self.metadata.name, self.spec.volumes)

    @cached_property
    def iscsi_disks(self) -> Mapping[str, bool]:
        """The iSCSI targets that it mounts without a claim, and whether it only reads them."""
        return pod_volumes.iscsi_disks(self.spec.volumes)
