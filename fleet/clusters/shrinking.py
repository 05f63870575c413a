"""Which clusters go: those that are empty and ready while a sibling is ready.

They are chosen one after another, and a chosen one is no ready sibling any more: of two empty
clusters, one stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fleet.core.states import ClusterState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fleet.core.clusters import FleetCluster


def is_superfluous(cluster: FleetCluster, clusters: Iterable[FleetCluster]) -> bool:
    """Whether nobody would miss a cluster. One whose instances aren't known isn't empty."""
    is_candidate = cluster.state is ClusterState.READY and cluster.is_empty
    return is_candidate and not cluster.is_leaving and has_ready_sibling(cluster, clusters)


def has_ready_sibling(cluster: FleetCluster, clusters: Iterable[FleetCluster]) -> bool:
    """Whether another cluster of the same provider and region is ready."""
    return any(each.is_ready_sibling_of(cluster) for each in clusters)


def superfluous_clusters(clusters: Sequence[FleetCluster]) -> list[FleetCluster]:
    """All clusters that go now. The newest go first, as they are the least used to."""
    left = {each.name: each for each in clusters}
    chosen = []
    for each in sorted(clusters, key=lambda each: (each.since, each.name), reverse=True):
        if is_superfluous(each, left.values()):
            left[each.name] = replace(each, state=ClusterState.DEPROVISIONING)
            chosen.append(each)
    return chosen
