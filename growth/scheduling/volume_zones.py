"""Zone and region labels of volumes, from the time before volumes had node affinity.

A volume with such a label can be used on nodes whose label has one of its values. A node without
any of these labels can use all volumes.
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

# Old labels and their current names; a node's current label also satisfies the old one.
_LABELS: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}


def rejection(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    """Why the node is in the wrong zone for one of the pod's volumes, or None."""
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
    """The zones of a label, which are joined by "__"; a malformed label has none."""
    zones = tuple(zone.strip() for zone in (text or "").split("__"))
    return zones if all(zones) else ()
