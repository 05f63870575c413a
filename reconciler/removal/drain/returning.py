"""Pods that come back to a node in its drain, since they tolerate the cordon.

The scheduler may send such a pod to the very node that it was evicted from, as often as it is asked
to. It is evicted again, as it has to go, but not in a loop: people are told of it, and can do what
helps, which is to give it another place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.written import parse_time
from growth.scheduling.taints import UNSCHEDULABLE, untolerated
from reconciler.removal.drain.telling import waited

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.pod import Pod

LEFT_ALONE: Final = 30.0
"""Seconds from a pod's making to its next eviction."""


def seconds_left_alone(pod: Pod, removal: NodeRemovalRequest, now: Instant) -> float:
    """How long a pod isn't evicted yet; 0 for one that was there before the drain."""
    if untolerated((UNSCHEDULABLE,), pod.spec.tolerations) is not None:
        return 0.0
    try:
        age = now.seconds_since(parse_time(pod.metadata.creation_timestamp or ""))
    except ValueError:
        return 0.0
    has_come_since = age < waited(removal, now)
    return max(LEFT_ALONE - max(age, 0.0), 0.0) if has_come_since else 0.0
