"""One more cluster for a region in which no cluster has room, or ever will have.

Every state but full and failed is a prospect of room, even deprovisioning: such a cluster returns
to ready if no ready sibling is left. So there is never more than one new cluster per region.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from fleet.core.clusters import FleetCluster
from fleet.core.states import WITHOUT_PROSPECT, ClusterState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fleet.core.clusters import FleetRegion

LONGEST_WAIT: Final = timedelta(days=1)
LARGEST_EXPONENT: Final = 10


def needs_cluster(region: FleetRegion, clusters: Iterable[FleetCluster], *, now: datetime) -> bool:
    """Whether a region gets one more cluster now."""
    own = [each for each in clusters if each.key == region.key and not each.is_soft_deleted]
    may_have_more = region.most is None or len(own) < region.most
    has_no_prospect = all(each.state in WITHOUT_PROSPECT for each in own)
    return region.scales and may_have_more and has_no_prospect and now >= _not_before(region, own)


def _not_before(region: FleetRegion, clusters: list[FleetCluster]) -> datetime:
    """The end of the wait after failures: none after the first, then twice as long each time.

    A provider that fails always would otherwise have one more failed cluster for each deadline.
    """
    failures = sorted(each.since for each in clusters if each.state is ClusterState.FAILED)
    if len(failures) <= 1:
        return datetime.min.replace(tzinfo=UTC)
    doubled: timedelta = region.provisioning_deadline * (
        1 << min(len(failures) - 2, LARGEST_EXPONENT)
    )
    return failures[-1] + min(doubled, LONGEST_WAIT)


def cluster_to_come(
    region: FleetRegion, clusters: Iterable[FleetCluster], *, now: datetime
) -> FleetCluster:
    """The record of a cluster that nothing has been asked for yet. It is spread over zones."""
    return FleetCluster(
        name=_name(region, clusters), key=region.key, state=ClusterState.ACCEPTED, since=now
    )


def _name(region: FleetRegion, clusters: Iterable[FleetCluster]) -> str:
    """A name that follows from what the region has now.

    Deciding twice on the same state, after a crash or by two processes, gives the same name, and
    the API server refuses the second record.
    """
    known = sorted((each.name, str(each.since)) for each in clusters if each.key == region.key)
    digest = hashlib.sha256(repr((region.key, known)).encode()).hexdigest()
    return f"{region.key.region}-{digest[:8]}"
