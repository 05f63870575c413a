"""The end of a cluster: back to ready, or deleted in a fixed order.

Until its deletion is asked for at the provider, a cluster can return; afterwards it can't. Each
step may be repeated, and a sequence that failed begins anew at the next pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleet.clusters.shrinking import has_ready_sibling
from fleet.core.actions import (
    DeleteCluster,
    DropRecord,
    RemoveAgentAccount,
    RemoveIdentity,
    SetState,
    SoftDelete,
)
from fleet.core.states import ClusterState

if TYPE_CHECKING:
    from collections.abc import Collection

    from fleet.core.actions import ClusterSequence
    from fleet.core.clusters import FleetCluster
    from fleet.core.provider import ClusterSight


def unstoppable_ending(cluster: FleetCluster, sight: ClusterSight | None) -> ClusterSequence:
    """The rest, once nothing keeps a cluster: its record goes when its provider has none."""
    if not cluster.is_soft_deleted:
        return _all_steps(cluster)
    if sight is not None:
        return () if sight.is_deleting else (DeleteCluster(cluster.name),)
    # Whatever failed at first is done at last.
    return (
        RemoveIdentity(cluster.name),
        RemoveAgentAccount(cluster.name),
        DropRecord(cluster.name),
    )


def deprovisioning_steps(
    cluster: FleetCluster, clusters: Collection[FleetCluster]
) -> ClusterSequence:
    """What to do now with a cluster that is deprovisioning."""
    if may_be_deleted(cluster, clusters):
        return _all_steps(cluster)
    if cluster.instances or not has_ready_sibling(cluster, clusters):
        return (SetState(cluster.name, ClusterState.READY),)
    # Something may have come just before the state was written: the next count tells.
    return ()


def _all_steps(cluster: FleetCluster) -> ClusterSequence:
    return (
        DeleteCluster(cluster.name),
        SoftDelete(cluster.name),
        RemoveIdentity(cluster.name),
        RemoveAgentAccount(cluster.name),
    )


def may_be_deleted(cluster: FleetCluster, clusters: Collection[FleetCluster]) -> bool:
    """Whether a cluster may be deleted at the provider, or already is."""
    if cluster.is_leaving:
        return True
    return cluster.is_empty and has_ready_sibling(cluster, clusters)
