"""Pods that come back to a draining node because they tolerate the cordon.

The scheduler may put such a pod on the same node again and again. It is evicted again, but only
after a pause, and an event names it, so that people can give it another place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.written import parse_time
from growth.scheduling.taints import UNSCHEDULABLE, untolerated
from reconciler.removal.drain.history import waited

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.pod import Pod

LEFT_ALONE: Final = 30.0
"""Seconds from a pod's creation to its next eviction."""


def seconds_left_alone(pod: Pod, removal: NodeRemovalRequest, now: Instant) -> float:
    """How long to wait before the pod is evicted; 0 if it was there before the drain."""
    # The scheduler sends no such pod to a cordoned node, so it was there before.
    if untolerated((UNSCHEDULABLE,), pod.spec.tolerations) is not None:
        return 0.0
    try:
        age = now.seconds_since(parse_time(pod.metadata.creation_timestamp or ""))
    except ValueError:
        return 0.0
    has_come_since = age < waited(removal, now)
    return max(LEFT_ALONE - max(age, 0.0), 0.0) if has_come_since else 0.0
