"""How many volumes of a CSI driver a node can attach, and whether the driver is on the node.

A volume counts once, however many pods on the node use it, and also while it is still attached
without a pod. A claim without a volume counts as one that its storage class will provision.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from growth.scheduling.claims import claims_of
from growth.scheduling.verdicts import Rejected, RejectionReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.csi import CSINode
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.storage import PersistentVolumeClaim


class Attached(NamedTuple):
    """A volume as its driver identifies it."""

    driver: str
    handle: str


def rejection(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    """Why the pod's volumes can't be attached to the node, or None if they can."""
    wanted = set(_volumes(pod, cluster))
    if not wanted:
        return None
    drivers = cluster.csi_nodes.get(node.name)
    return _driver_missing(wanted, drivers, cluster) or _too_many(wanted, node, cluster)


def _driver_missing(
    wanted: set[Attached], node_drivers: CSINode | None, cluster: Cluster
) -> Rejected | None:
    """Only a driver that asks for it must be on the node; others are expected to register soon."""
    present = {each.name for each in node_drivers.drivers} if node_drivers else set()
    for name in sorted({each.driver for each in wanted} - present):
        driver = cluster.csi_drivers.get(name)
        if driver is not None and driver.spec.prevent_pod_scheduling_if_missing:
            return Rejected(
                RejectionReason.DRIVER_MISSING, f"needs the storage driver {name} on the node"
            )
    return None


def _too_many(wanted: set[Attached], node: Node, cluster: Cluster) -> Rejected | None:
    node_drivers = cluster.csi_nodes.get(node.name)
    limits = node_drivers.limits if node_drivers else {}
    if not limits:
        return None
    used = {
        each
        for other in cluster.occupancy(node.name).with_claims
        for each in _volumes(other, cluster)
    }
    there = Counter(each.driver for each in used | set(_attached(node, cluster)))
    new = Counter(each.driver for each in wanted - used)
    for driver, count in sorted(new.items()):
        if driver in limits and there[driver] + count > limits[driver]:
            used_of_limit = f"{there[driver]} of {limits[driver]}"
            text = f"needs {count} more of {driver}, and the node uses {used_of_limit} already"
            return Rejected(RejectionReason.ATTACH_LIMIT, text)
    return None


def _volumes(pod: Pod, cluster: Cluster) -> Iterator[Attached]:
    for claim in claims_of(pod, cluster):
        volume = _volume_of(claim, cluster)
        if volume is not None:
            yield volume


def _volume_of(claim: PersistentVolumeClaim, cluster: Cluster) -> Attached | None:
    volume = cluster.volumes.get(claim.spec.volume_name)
    if volume is not None:
        source = volume.spec.csi
        return Attached(source.driver, source.volume_handle) if source else None
    storage_class = cluster.storage_classes.get(claim.storage_class)
    if storage_class is None or not storage_class.provisioner:
        return None
    # No driver uses handles of this form, so this can't be equal to that of an existing volume.
    future = f"claim {claim.metadata.namespace}/{claim.metadata.name}"
    return Attached(storage_class.provisioner, future)


def _attached(node: Node, cluster: Cluster) -> Iterator[Attached]:
    for attachment in cluster.attachments_by_node.get(node.name, ()):
        volume = cluster.volumes.get(attachment.spec.source.persistent_volume_name or "")
        if attachment.spec.attacher and volume is not None and volume.spec.csi is not None:
            yield Attached(attachment.spec.attacher, volume.spec.csi.volume_handle)
