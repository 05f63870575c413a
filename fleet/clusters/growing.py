"""One more cluster for a region in which no cluster has room, or ever will have.

Every state but full and failed is a prospect of room, even deprovisioning: such a cluster returns
to ready if no ready sibling is left. So there is never more than one new cluster per region.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fleet.core.clusters import ClusterRecord
from fleet.core.states import WITHOUT_PROSPECT, ClusterState

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from fleet.core.clusters import FleetRegion


def needs_cluster(region: FleetRegion, clusters: Iterable[ClusterRecord]) -> bool:
    """Whether a region gets one more cluster."""
    states = [
        each.state for each in clusters if each.key == region.key and not each.is_soft_deleted
    ]
    may_have_more = region.most is None or len(states) < region.most
    return region.scales and may_have_more and WITHOUT_PROSPECT.issuperset(states)


def cluster_to_come(
    region: FleetRegion, clusters: Iterable[ClusterRecord], *, now: datetime
) -> ClusterRecord:
    """The record of a cluster that nothing has been asked for yet. It is spread over zones."""
    return ClusterRecord(
        name=_name(region, clusters), key=region.key, state=ClusterState.ACCEPTED, since=now
    )


def _name(region: FleetRegion, clusters: Iterable[ClusterRecord]) -> str:
    """A name that follows from what the region has now.

    Deciding twice on the same state, after a crash or by two processes, gives the same name, and
    the API server refuses the second record.
    """
    known = sorted((each.name, str(each.since)) for each in clusters if each.key == region.key)
    digest = hashlib.sha256(repr((region.key, known)).encode()).hexdigest()
    return f"{region.key.region}-{digest[:8]}"
