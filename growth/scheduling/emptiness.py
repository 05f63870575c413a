"""When a node is empty.

A pod keeps its node, except pods of DaemonSets, static pods (with their mirror pods) and finished
pods. The pool and labels of a pod don't matter: a node with any other pod isn't empty. A pod in
deletion keeps its node until it is gone.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from growth.foreign_text import time_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.instant import Instant
    from growth.scheduling.pod import Pod

OVERDUE_AFTER: Final = 30.0
"""Seconds after the end of the grace period; other autoscalers wait as long."""


def keeps_its_node(pod: Pod) -> bool:
    """Whether the node isn't empty because of this pod."""
    return not (pod.is_finished or goes_with_its_node(pod))


def goes_with_its_node(pod: Pod) -> bool:
    """Whether it ends with its node and never needs another one."""
    return pod.is_of_daemon_set or pod.is_static


def keepers(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """The pods that keep their node; if there are none, the node is empty."""
    return tuple(pod for pod in pods if keeps_its_node(pod))


def seconds_until_overdue(pod: Pod, now: Instant) -> float:
    """Seconds until a pod in deletion is overdue; infinite if the pod isn't being deleted."""
    # The deletion timestamp already includes the grace period.
    ends_at = time_or_none(pod.metadata.deletion_timestamp)
    return inf if ends_at is None else OVERDUE_AFTER - now.seconds_since(ends_at)


def is_overdue(pod: Pod, now: Instant) -> bool:
    """Whether it should be gone by now: no kubelet on a dead node will confirm the deletion."""
    return seconds_until_overdue(pod, now) <= 0


def left_on(pods: Iterable[Pod], now: Instant, *, node_is_ready: bool) -> tuple[Pod, ...]:
    """The pods that a removal of the node must wait for; on a dead node, not the overdue ones."""
    kept = keepers(pods)
    return kept if node_is_ready else tuple(pod for pod in kept if not is_overdue(pod, now))
