"""Whether the claims of a pod can be used at all, on any node.

A claim must exist, must not be in deletion, and must either be bound or wait for its first
consumer. An unbound claim that doesn't wait needs its volume controller, and a new node wouldn't
help. A controller creates the claim of an ephemeral volume after the pod; it must belong to the
pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling.verdicts import Rejected, RejectionReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.pod import Pod
    from growth.scheduling.pod_volumes import ClaimUse
    from growth.scheduling.storage import PersistentVolumeClaim


def claims_of(pod: Pod, cluster: Cluster) -> Iterator[PersistentVolumeClaim]:
    """The pod's claims that exist."""
    for use in pod.claims:
        claim = cluster.claims.get((pod.metadata.namespace, use.name))
        if claim is not None:
            yield claim


def waits_for_consumer(claim: PersistentVolumeClaim, cluster: Cluster) -> bool:
    """Whether the claim gets its volume only after the scheduler has chosen a node."""
    storage_class = cluster.storage_classes.get(claim.storage_class)
    is_free = not claim.is_bound and not claim.spec.volume_name
    return is_free and storage_class is not None and storage_class.waits_for_consumer


def rejection(pod: Pod, cluster: Cluster) -> Rejected | None:
    """Why the pod fits on no node because of a claim, or None."""
    for use in pod.claims:
        problem = _problem(pod, use, cluster)
        if problem is not None:
            return Rejected(RejectionReason.CLAIM, f"its claim {use.name} {problem}")
    return None


def _problem(pod: Pod, use: ClaimUse, cluster: Cluster) -> str | None:
    claim = cluster.claims.get((pod.metadata.namespace, use.name))
    if claim is None:
        return "doesn't exist yet" if use.is_ephemeral else "doesn't exist"
    if claim.status.phase == "Lost":
        return f"has lost its volume {claim.spec.volume_name}"
    if claim.metadata.deletion_timestamp is not None:
        return "is being deleted"
    if use.is_ephemeral and not _is_made_for(pod, claim):
        return "wasn't created for this pod"
    if claim.is_bound or waits_for_consumer(claim, cluster):
        return None
    # The claim isn't bound yet and doesn't wait for a consumer: only its controller can help.
    return _why_unbound(claim, cluster)


def _is_made_for(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    controller = claim.metadata.controller
    return controller is not None and controller.uid == pod.metadata.uid


def _why_unbound(claim: PersistentVolumeClaim, cluster: Cluster) -> str:
    if claim.spec.volume_name:
        return f"is not yet bound to its volume {claim.spec.volume_name}"
    if claim.storage_class and claim.storage_class not in cluster.storage_classes:
        return f"is unbound, and its storage class {claim.storage_class} doesn't exist"
    return "is not yet bound to a volume"
