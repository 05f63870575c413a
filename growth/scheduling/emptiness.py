"""When is a node empty?

A pod keeps its node unless a DaemonSet, a kubelet (mirror and static pods) or its own end says
that it needs no other. Never narrower: a node with a stranger's pod is not empty, whatever pool or
label the pod has. A pod that is being deleted keeps its node until it is gone.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from growth.api.written import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.instant import Instant
    from growth.scheduling.pod import Pod

OVERDUE_AFTER: Final = 30.0
"""Seconds after the end of its grace; peers wait as long before they give up a pod."""


def keeps_its_node(pod: Pod) -> bool:
    """Whether somebody would miss the node because of this pod."""
    return not (pod.is_finished or pod.is_of_daemon_set or pod.is_static)


def keepers(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """The pods that keep their node; none = the node is empty."""
    return tuple(pod for pod in pods if keeps_its_node(pod))


def seconds_until_overdue(pod: Pod, now: Instant) -> float:
    """When a pod should have gone long ago; never for one that nobody has asked to.

    The time of deletion is that of the wish and the pod's grace together.
    """
    try:
        ends_at = parse_time(pod.metadata.deletion_timestamp or "")
    except ValueError:
        return inf
    return OVERDUE_AFTER - now.seconds_since(ends_at)


def is_overdue(pod: Pod, now: Instant) -> bool:
    """Whether it should have gone long ago: on a silent node nobody will confirm it."""
    return seconds_until_overdue(pod, now) <= 0


def left_on(pods: Iterable[Pod], now: Instant, *, node_is_ready: bool) -> tuple[Pod, ...]:
    """The pods for which a node has to be waited for: a dead one's ended with their grace."""
    kept = keepers(pods)
    return kept if node_is_ready else tuple(pod for pod in kept if not is_overdue(pod, now))
