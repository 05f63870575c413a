"""When a drain has to end, whatever holds its pods: `terminationGracePeriod` of the pool.

It counts from the beginning of the drain. A pod that is still there is ended so early that its own
grace period is over at the same time; if that is longer than the time that is left, it gets what is
left. Until then, pods are only evicted, within their budgets. Nodes that go to save money never end
a pod: their drains are given up.
"""

from __future__ import annotations

from math import ceil, inf
from typing import TYPE_CHECKING, Final

from growth.foreign_text import time_or_none
from reconciler.removal.drain.history import waited

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

USUAL_GRACE: Final = 30
"""Seconds; Kubernetes' default for pods that say nothing."""
LEAST_GRACE: Final = 1
"""With 0, the API server would forget the pod while its containers still run."""


def seconds_left(removal: NodeRemovalRequest, world: World, now: Instant) -> float:
    """Seconds until the drain has to be over; infinite if it may take as long as it wants."""
    pool = world.pools.get(removal.spec.pool)
    period = None if pool is None else pool.spec.disruption.termination_grace_period
    if period is None or not removal.spec.reason.meaning.may_end_pods:
        return inf
    return period.seconds - waited(removal, now)


def seconds_until_ended(pod: Pod, left: float, now: Instant) -> float:
    """Seconds until the pod is ended: its own grace period before the end of the drain."""
    if not pod.is_terminating:
        return left - _own_grace(pod)
    ends_at = time_or_none(pod.metadata.deletion_timestamp)
    # It has been told to end, but may take longer than the drain.
    is_late = ends_at is not None and -now.seconds_since(ends_at) > max(left, LEAST_GRACE) + 1
    return left if is_late else inf


def grace_left(pod: Pod, left: float) -> int:
    """The seconds that the pod gets if it is ended now."""
    return max(min(ceil(left), _own_grace(pod)), LEAST_GRACE)


def _own_grace(pod: Pod) -> int:
    said = pod.spec.termination_grace_period_seconds
    return USUAL_GRACE if said is None else max(said, 0)
