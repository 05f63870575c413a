"""Pods that come back to a draining node because they tolerate the cordon.

The scheduler may put such a pod on the same node again and again. It is evicted again, but only
after a pause, and an event names it, so that people can give it another place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.foreign_text import time_or_none
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
    made_at = time_or_none(pod.metadata.creation_timestamp)
    if made_at is None:
        return 0.0
    age = now.seconds_since(made_at)
    has_come_since = age < waited(removal, now)
    return max(LEFT_ALONE - max(age, 0.0), 0.0) if has_come_since else 0.0
