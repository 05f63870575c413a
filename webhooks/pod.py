"""The fields of a pod that admission needs, decoded directly from the bytes of a review.

The `Pod` of growth.scheduling reads much more, such as quantities, and would be three times as
slow. For rules that exist there (the pools of a pod, its owner), the relevant fields are passed as
such a `Pod`, so that each rule is written once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.scheduling import affinity_terms
from growth.scheduling.metadata import Metadata
from growth.scheduling.node_affinity import NodeAffinity, NodeSelector, NodeSelectorTerm
from growth.scheduling.pod import Pod
from growth.scheduling.pod_spec import PodSpec
from growth.scheduling.taints import Toleration
from webhooks.patch import PREFERRED

if TYPE_CHECKING:
    from collections.abc import Mapping


class PreferredSchedulingTerm(msgspec.Struct, frozen=True, gc=False):
    """A preference for nodes; its weight doesn't matter here."""

    preference: NodeSelectorTerm = NodeSelectorTerm()


class OwnNodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """The node affinity of a pod."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredSchedulingTerm, ...] | None = msgspec.field(
        default=None, name=PREFERRED
    )


class AdmittedAffinity(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The affinity of a pod, without that between pods."""

    node_affinity: OwnNodeAffinity | None = None


class AdmittedSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The fields that decide where a pod can run."""

    node_name: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: AdmittedAffinity | None = None
    tolerations: tuple[Toleration, ...] | None = None


class AdmittedPod(msgspec.Struct, frozen=True, gc=False):
    """A pod that is about to be created."""

    metadata: Metadata = Metadata()
    spec: AdmittedSpec = AdmittedSpec()

    @property
    def selector(self) -> Mapping[str, str]:
        """Its nodeSelector."""
        return self.spec.node_selector or {}

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """Its tolerations."""
        return self.spec.tolerations or ()

    @property
    def preferences(self) -> tuple[PreferredSchedulingTerm, ...]:
        """Its preferences for nodes."""
        own = self.spec.affinity and self.spec.affinity.node_affinity
        return (own.preferred or ()) if own else ()

    @property
    def size(self) -> int:
        """The number of tolerations and node affinity conditions, which decides the work."""
        own = self.spec.affinity and self.spec.affinity.node_affinity
        required = own.required if own else None
        terms = [wish.preference for wish in self.preferences]
        terms += (required.node_selector_terms or ()) if required else ()
        return len(self.tolerations) + sum(
            1 + sum(1 + len(each.values or ()) for each in term.match_expressions or ())
            for term in terms
        )

    @property
    def for_scheduling(self) -> Pod:
        """The pod as a `Pod` of growth.scheduling, with only its owner and node affinity."""
        own = self.spec.affinity and self.spec.affinity.node_affinity
        required = NodeAffinity(own.required) if own else None
        return Pod(
            metadata=self.metadata,
            spec=PodSpec(
                node_name=self.spec.node_name or "",
                node_selector=self.spec.node_selector or {},
                affinity=affinity_terms.Affinity(node_affinity=required),
            ),
        )
