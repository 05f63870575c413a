"""Zone and region labels of volumes, the way before volumes had node affinity.

A volume with such a label can be used where the node's label has one of its values. A node without
any of these labels takes part in no zones, and everything goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.scheduling.claims import claims_of
from growth.scheduling.verdicts import Rejected, RejectionReason

if TYPE_CHECKING:
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.storage import PersistentVolume

# The old labels and what they are called now; a node with new labels satisfies old ones.
_LABELS: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}


def rejection(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    """Why the node is in the wrong zone for one of the pod's volumes, if it is."""
    if not any(label in node.labels for label in _LABELS):
        return None
    for claim in claims_of(pod, cluster):
        volume = cluster.volumes.get(claim.spec.volume_name)
        wrong = _wrong_label(volume, node) if volume is not None else None
        if wrong is not None:
            text = f"its volume {claim.spec.volume_name} is in {wrong}"
            return Rejected(RejectionReason.VOLUME_ELSEWHERE, text)
    return None


def _wrong_label(volume: PersistentVolume, node: Node) -> str | None:
    for label, label_now in _LABELS.items():
        values = _values(volume.metadata.labels.get(label))
        if values and node.labels.get(label, node.labels.get(label_now)) not in values:
            return f"{label}={volume.metadata.labels[label]}"
    return None


def _values(text: str | None) -> tuple[str, ...]:
    """Several zones are joined by two underscores; a label that can't be read says nothing."""
    zones = tuple(zone.strip() for zone in (text or "").split("__"))
    return zones if all(zones) else ()
