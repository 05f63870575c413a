"""Which pods are demand: those that the scheduler can't place, and that a new node may help.

PodScheduled=False with reason Unschedulable means that the scheduler found no node that fits. Other
reasons (an error of an extender, a gate) say nothing about nodes. Any scheduler counts; the pods of
one that doesn't set this condition are never demand.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from growth.scheduling.metadata import ObservedCondition
    from growth.scheduling.pod import Pod

SCHEDULED = "PodScheduled"
UNSCHEDULABLE = "Unschedulable"
GATED = "SchedulingGated"
"""The API server sets this reason when it creates a gated pod, and doesn't clear it when the gates
are removed. So without gates it means the same as no condition."""


class PodProgress(enum.Enum):
    """How far a pod has come on its way to a node."""

    APART = enum.auto()
    """It doesn't wait for a new node: it has one, has ended, is gated, or a new node can't help."""
    UNREACHED = enum.auto()
    """No scheduler has tried it yet."""
    NOMINATED = enum.auto()
    """The scheduler has found no node for it, and is making room on one by preemption."""
    UNSCHEDULABLE = enum.auto()
    """The scheduler has found no node for it."""


def is_demand(pod: Pod) -> bool:
    """Whether this pod waits for a new node."""
    return standing(pod) is PodProgress.UNSCHEDULABLE


def standing(pod: Pod) -> PodProgress:
    """How far this pod has come, by its own fields alone."""
    if _is_apart(pod):
        return PodProgress.APART
    verdict = scheduled(pod)
    nominated = bool(pod.status.nominated_node_name)
    if verdict is None or verdict.reason == GATED:
        # Without a verdict a nomination isn't preemption: the scheduler is binding the pod there,
        # and only waits for volumes or a permit.
        return PodProgress.APART if nominated else PodProgress.UNREACHED
    if verdict.status != "False" or verdict.reason != UNSCHEDULABLE:
        return PodProgress.APART
    return PodProgress.NOMINATED if nominated else PodProgress.UNSCHEDULABLE


def scheduled(pod: Pod) -> ObservedCondition | None:
    """The PodScheduled condition of a pod, if it has one."""
    return next((each for each in pod.status.conditions if each.type == SCHEDULED), None)


def _is_apart(pod: Pod) -> bool:
    return bool(
        pod.spec.node_name
        or pod.spec.scheduling_gates
        or pod.is_finished
        or pod.is_terminating
        # The DaemonSet controller makes each pod for one node, and a kubelet its static pods for
        # its own.
        or pod.is_of_daemon_set
        or pod.is_static
    )
