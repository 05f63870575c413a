"""What Cluster API's objects say of one cluster.

Compute nodes are counted as Machines with a Node: conditions look settled for a second after each
write, and a step up makes them False for clusters that serve well. A cluster is there when its
control plane answers and each wanted node has come once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fleet.capi.objects import CLUSTER_LABEL, DEPLOYMENT_LABEL
from fleet.core.provider import ClusterSight, NodeCounts, ProviderProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fleet.capi.objects import CapiCluster, CapiDeployment, CapiMachine

THERE: Final = frozenset(
    {
        "ControlPlaneInitialized",
        "ControlPlaneAvailable",
        "RemoteConnectionProbe",
        "TopologyReconciled",
    }
)
"""Conditions that are True when a cluster is there."""


def sight_of(
    cluster: CapiCluster,
    deployments: Sequence[CapiDeployment],
    machines: Sequence[CapiMachine],
    *,
    is_equipped: bool,
) -> ClusterSight:
    """The cluster with its own deployments and machines."""
    counts = _counts(cluster, deployments, machines)
    return ClusterSight(
        progress=_progress(cluster, counts),
        counts=counts,
        is_deleting=cluster.metadata.deletion_timestamp is not None,
        is_equipped=is_equipped,
    )


def cluster_name_of(each: CapiDeployment | CapiMachine) -> str:
    """The cluster that an object belongs to; "" if it isn't one of compute nodes."""
    labels = each.metadata.labels
    return labels.get(CLUSTER_LABEL, "") if DEPLOYMENT_LABEL in labels else ""


def _counts(
    cluster: CapiCluster, deployments: Sequence[CapiDeployment], machines: Sequence[CapiMachine]
) -> NodeCounts:
    wanted = {
        each.name: each.replicas for each in cluster.spec.topology.workers.machine_deployments
    }
    there = {each.metadata.labels[DEPLOYMENT_LABEL]: each.spec.replicas for each in deployments}
    known = [replicas for replicas in wanted.values() if replicas is not None]
    leaving = [each for each in machines if each.metadata.deletion_timestamp is not None]
    existing = [each for each in machines if each not in leaving and each.status.node_ref]
    return NodeCounts(
        desired=sum(known) if known and len(known) == len(wanted) else None,
        existing=len(existing),
        leaving=len(leaving),
        is_settled=wanted == there,
    )


def _progress(cluster: CapiCluster, counts: NodeCounts) -> ProviderProgress:
    true = {each.type for each in cluster.status.conditions if each.status == "True"}
    is_there = true >= THERE and counts.desired == counts.existing
    return ProviderProgress.READY if is_there else ProviderProgress.INSTALLING
