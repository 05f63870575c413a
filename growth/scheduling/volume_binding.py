"""Where a pod's volumes can be mounted, and where its unbound claims can get a volume.

The volume of a bound claim has the nodes that can mount it. A claim that waits for its first
consumer gets its volume on the node that the scheduler has already selected for it; or else a free
volume that matches the claim and the node; or else a new volume, if its class can provision one
there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling import selectors
from growth.scheduling.claims import claims_of, waits_for_consumer
from growth.scheduling.storage import FILESYSTEM, SELECTED_NODE
from growth.scheduling.verdicts import Rejected, RejectionReason

if TYPE_CHECKING:
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.storage import PersistentVolume, PersistentVolumeClaim


def rejection(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    """Why the pod's volumes keep it off the node, or None."""
    claims = tuple(claims_of(pod, cluster))
    waiting = [claim for claim in claims if waits_for_consumer(claim, cluster)]
    return (
        _out_of_reach([claim for claim in claims if claim.is_bound], node, cluster)
        or _promised_elsewhere(waiting, node)
        or _without_volume(waiting, node, cluster)
    )


def _out_of_reach(
    claims: list[PersistentVolumeClaim], node: Node, cluster: Cluster
) -> Rejected | None:
    for claim in claims:
        name = claim.spec.volume_name
        volume = cluster.volumes.get(name)
        if volume is None:
            return Rejected(RejectionReason.NO_VOLUME, f"its volume {name} doesn't exist")
        if volume.reach is not None and not volume.is_reachable_from(node.labels):
            text = f"its volume {name} can only be used on nodes with {volume.reach.text}"
            return Rejected(RejectionReason.VOLUME_ELSEWHERE, text)
    return None


def _promised_elsewhere(claims: list[PersistentVolumeClaim], node: Node) -> Rejected | None:
    for claim in claims:
        selected = claim.metadata.annotations.get(SELECTED_NODE, node.name)
        if selected != node.name:
            text = f"its claim {claim.metadata.name} is being provisioned on {selected}"
            return Rejected(RejectionReason.VOLUME_ELSEWHERE, text)
    return None


def _without_volume(
    claims: list[PersistentVolumeClaim], node: Node, cluster: Cluster
) -> Rejected | None:
    """Why a waiting claim can't get a volume on the node, or None."""
    # As in the scheduler, small claims choose first, so that large volumes are left for large
    # claims; claims of the same size choose in the order of the pod's volumes. Of volumes of the
    # same size the scheduler takes any. Here it is the first by name, so the two may differ.
    chosen: set[str] = set()
    for claim in sorted(claims, key=lambda claim: claim.size):
        volume = _free_volume(claim, node, cluster, chosen=chosen)
        if volume is not None:
            chosen.add(volume.metadata.name)
        elif not _can_be_made(claim, node, cluster):
            text = f"its claim {claim.metadata.name} can't get a volume on the node"
            return Rejected(RejectionReason.NO_VOLUME, text)
    return None


def _free_volume(
    claim: PersistentVolumeClaim, node: Node, cluster: Cluster, *, chosen: set[str]
) -> PersistentVolume | None:
    if SELECTED_NODE in claim.metadata.annotations:
        return None  # a new one is already being provisioned
    candidates = [
        volume
        for volume in cluster.volumes_by_class.get(claim.storage_class, ())
        if volume.metadata.name not in chosen and _has_the_form(volume, claim)
    ]
    for volume in candidates:
        if _is_reserved_for(volume, claim):
            return volume if volume.is_reachable_from(node.labels) else None
    return next((each for each in candidates if _is_free(each, claim, node)), None)


def _has_the_form(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    # Even a volume that is reserved for this claim must match it.
    attributes = (volume.spec.volume_attributes_class_name, claim.spec.volume_attributes_class_name)
    modes = (volume.spec.volume_mode or FILESYSTEM, claim.spec.volume_mode or FILESYSTEM)
    return (
        volume.size >= claim.size
        and modes[0] == modes[1]
        and (attributes[0] or "") == (attributes[1] or "")
        and volume.metadata.deletion_timestamp is None
        and (volume.spec.claim_ref is None or volume.spec.claim_ref.is_to(claim))
    )


def _is_reserved_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    return volume.spec.claim_ref is not None and volume.spec.claim_ref.is_to(claim)


def _is_free(volume: PersistentVolume, claim: PersistentVolumeClaim, node: Node) -> bool:
    wanted = claim.spec.selector
    return (
        volume.status.phase == "Available"
        and (wanted is None or selectors.compiled_selector(wanted).matches(volume.metadata.labels))
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
        and volume.is_reachable_from(node.labels)
    )


def _can_be_made(claim: PersistentVolumeClaim, node: Node, cluster: Cluster) -> bool:
    storage_class = cluster.storage_classes[claim.storage_class]
    return storage_class.can_provision and storage_class.allows(node.labels)
