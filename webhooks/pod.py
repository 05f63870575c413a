"""The part of a pod that admission looks at, decoded straight from the review's bytes.

The scheduling room's own `Pod` reads far more, quantities among it, and would be three times as
slow. Where a question has its answer there (which pools a pod means, whose it is), the part that
matters is handed over as such a `Pod`, so that each rule is written once.
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
    """A wish about nodes. Its weight is nobody's business here."""

    preference: NodeSelectorTerm = NodeSelectorTerm()


class OwnNodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """What a pod asks of nodes, beyond its nodeSelector."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredSchedulingTerm, ...] | None = msgspec.field(
        default=None, name=PREFERRED
    )


class AdmittedAffinity(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The part about nodes."""

    node_affinity: OwnNodeAffinity | None = None


class AdmittedSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Where a pod may go."""

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
        """What its node must have."""
        return self.spec.node_selector or {}

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """The taints that it consents to."""
        return self.spec.tolerations or ()

    @property
    def preferences(self) -> tuple[PreferredSchedulingTerm, ...]:
        """Its wishes about nodes."""
        own = self.spec.affinity and self.spec.affinity.node_affinity
        return (own.preferred or ()) if own else ()

    @property
    def size(self) -> int:
        """How many tolerations, wishes and conditions about nodes there are to be gone through."""
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
        """The same pod as the scheduling room knows it, as far as nodes and owners go."""
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
