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
    from fleet.core.clusters import ClusterRecord


def unstoppable_ending(cluster: ClusterRecord, *, is_at_provider: bool) -> ClusterSequence:
    """The rest, once nothing keeps a cluster: its record goes when its provider has none."""
    steps = _all_steps(cluster)
    return steps if is_at_provider else (*steps, DropRecord(cluster.name))


def deprovisioning_steps(
    cluster: ClusterRecord, clusters: Collection[ClusterRecord]
) -> ClusterSequence:
    """What to do now with a cluster that is deprovisioning."""
    if not may_be_deleted(cluster, clusters):
        return (SetState(cluster.name, ClusterState.READY),)
    return _all_steps(cluster)


def _all_steps(cluster: ClusterRecord) -> ClusterSequence:
    return (
        DeleteCluster(cluster.name),
        SoftDelete(cluster.name),
        RemoveIdentity(cluster.name),
        RemoveAgentAccount(cluster.name),
    )


def may_be_deleted(cluster: ClusterRecord, clusters: Collection[ClusterRecord]) -> bool:
    """Whether a cluster may be deleted at the provider, or already is."""
    if cluster.is_leaving:
        return True
    return cluster.instances == 0 and has_ready_sibling(cluster, clusters)
