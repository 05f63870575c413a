"""Volumes that only one pod may use at a time.

A ReadWriteOncePod claim is for one pod in the whole cluster. Several pods on a node can mount an
iSCSI target without a claim only if all of them mount it read-only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling.claims import claims_of
from growth.scheduling.verdicts import Rejected, RejectionReason

if TYPE_CHECKING:
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod


def rejection(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    """Why a volume that another pod uses keeps this one off the node, or None."""
    return _disk_in_use(pod, node, cluster) or _claim_in_use(pod, cluster)


def _disk_in_use(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    for iqn, is_read_only in pod.iscsi_disks.items():
        for other in cluster.occupancy(node.name).pods:
            others_reading = other.iscsi_disks.get(iqn)
            if others_reading is None or (is_read_only and others_reading):
                continue
            text = f"mounts the iSCSI target {iqn}, which {other.name} uses on the node"
            return Rejected(RejectionReason.VOLUME_IN_USE, text)
    return None


def _claim_in_use(pod: Pod, cluster: Cluster) -> Rejected | None:
    mounted = {use.name for use in pod.claims if not use.is_ephemeral}
    for claim in claims_of(pod, cluster):
        if "ReadWriteOncePod" not in claim.spec.access_modes or claim.metadata.name not in mounted:
            continue
        user = cluster.claim_users.get((pod.metadata.namespace, claim.metadata.name))
        if user is not None:
            text = f"its claim {claim.metadata.name} is ReadWriteOncePod, and {user.name} uses it"
            return Rejected(RejectionReason.VOLUME_IN_USE, text)
    return None
