"""A pod: the fields that growth reads, and values derived from them.

Derived values (effective requests, compiled selectors, ports, claims) are computed when they are
first used, and then kept with the object. The watch cache replaces the object when the pod changes,
so they are computed at most once per change, and never while a World is made.
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
    shape,
    spread_constraints,
    unsupported,
)
from growth.scheduling.metadata import Metadata
from growth.scheduling.pod_spec import PodSpec, PodStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.affinity_terms import Term
    from growth.scheduling.node_affinity import WantedNodes
    from growth.scheduling.pod_volumes import ClaimUse
    from growth.scheduling.ports import HostPort
    from growth.scheduling.resources import Resources
    from growth.scheduling.shape import Shape
    from growth.scheduling.spread_constraints import SpreadConstraint

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
SOURCE_ANNOTATION = "kubernetes.io/config.source"


class Pod(msgspec.Struct, frozen=True, dict=True):
    """A pod with its derived values."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def name(self) -> str:
        """The pod as namespace/name."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def place(self) -> str:
        """The node on which it takes room: where it is bound, or else nominated."""
        return self.spec.node_name or self.status.nominated_node_name

    @property
    def is_finished(self) -> bool:
        """Whether it has ended and uses no resources any more."""
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def is_terminating(self) -> bool:
        """Whether it is being deleted; it uses its resources until it is gone."""
        return self.metadata.deletion_timestamp is not None

    @property
    def is_ending(self) -> bool:
        """Whether it has ended on a node whose kubelet still has to delete it."""
        return self.is_finished and self.is_terminating and bool(self.spec.node_name)

    @property
    def is_ready(self) -> bool:
        """Whether its Ready condition is true."""
        return any(
            each.type == "Ready" and each.status == "True" for each in self.status.conditions
        )

    @property
    def is_static(self) -> bool:
        """Whether it is a static pod of a kubelet, or its mirror pod."""
        annotations = self.metadata.annotations
        # What a kubelet has read from a file or an URL has such a source; `api` is everything else.
        has_source = annotations.get(SOURCE_ANNOTATION, "api") != "api"
        return MIRROR_ANNOTATION in annotations or has_source or self._is_controlled_by("Node")

    @property
    def is_of_daemon_set(self) -> bool:
        """Whether a DaemonSet controls it."""
        return self._is_controlled_by("DaemonSet")

    def _is_controlled_by(self, kind: str) -> bool:
        controller = self.metadata.controller
        return controller is not None and controller.kind == kind

    @cached_property
    def requests(self) -> Resources:
        """The resources that it takes, or will take, of its node."""
        # Only a bound pod can be resized in place, and until the kubelet has done it, its status
        # counts, too.
        if self.spec.node_name:
            return requests.requests_when_bound(self.spec, self.status)
        return requests.requests_when_pending(self.spec)

    @cached_property
    def wanted_nodes(self) -> WantedNodes:
        """Its node selector and required node affinity."""
        affinity = self.spec.affinity
        return node_affinity.wanted_nodes(
            self.spec.node_selector, affinity.node_affinity if affinity else None
        )

    @cached_property
    def affinity_terms(self) -> tuple[Term, ...]:
        """Its required pod affinity."""
        affinity = self.spec.affinity
        return affinity_terms.compiled_terms(
            affinity.pod_affinity if affinity else None, self.metadata
        )

    @cached_property
    def anti_affinity_terms(self) -> tuple[Term, ...]:
        """Its required pod anti-affinity."""
        affinity = self.spec.affinity
        return affinity_terms.compiled_terms(
            affinity.pod_anti_affinity if affinity else None, self.metadata
        )

    @cached_property
    def spread_constraints(self) -> tuple[SpreadConstraint, ...]:
        """Its topology spread constraints that must hold."""
        return spread_constraints.compiled_constraints(
            self.spec.topology_spread_constraints, self.metadata.labels
        )

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The host ports of its containers and sidecars."""
        # The other init containers have ended when the containers start.
        sidecars = (each for each in self.spec.init_containers if each.is_sidecar)
        return ports.host_ports(
            port for each in (*sidecars, *self.spec.containers) for port in each.ports or ()
        )

    @cached_property
    def claims(self) -> tuple[ClaimUse, ...]:
        """The claims that it mounts."""
        return pod_volumes.claims_of_pod(self.metadata.name, self.spec.volumes)

    @cached_property
    def iscsi_disks(self) -> Mapping[str, bool]:
        """The iSCSI targets that it mounts without a claim, and whether read-only."""
        return pod_volumes.iscsi_disks(self.spec.volumes)

    @cached_property
    def looks_at_others(self) -> bool:
        """Whether where it fits depends on where other pods, or its volumes, are."""
        rules = self.affinity_terms or self.anti_affinity_terms or self.spread_constraints
        return bool(rules or self.claims)

    @cached_property
    def unsupported_words(self) -> tuple[str, ...]:
        """The unsupported features that it names itself; kept, as thousands of pods are asked."""
        return unsupported.unsupported_words_of(self)

    @cached_property
    def shape(self) -> Shape:
        """Its shape: the same for all pods that are equal to the scheduler."""
        return shape.shape_of(self)
