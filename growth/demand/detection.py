"""Which pods are demand: those that the scheduler has given up on, and that a node would help.

PodScheduled=False with reason Unschedulable is the scheduler's own word that no node fits. Any
other reason (an error of an extender, a gate) says nothing about nodes. Which scheduler it was
doesn't matter: one that doesn't know this condition marks nothing, and its pods stay out.
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
"""Written by the API server when the pod is made, and left there when its gates are taken off: from
then on it says no more than if nothing were written."""


class PodProgress(enum.Enum):
    """How far a pod has come on its way to a node."""

    APART = enum.auto()
    """A new node isn't what it waits for: it has one, has ended, is gated, or isn't ours."""
    UNREACHED = enum.auto()
    """No scheduler has said a word about it yet."""
    NOMINATED = enum.auto()
    """The scheduler has found no room, and makes some for it on a node by preemption."""
    UNSCHEDULABLE = enum.auto()
    """The scheduler has found no node for it."""


def is_demand(pod: Pod) -> bool:
    """Whether a new node could be what this pod waits for."""
    return standing(pod) is PodProgress.UNSCHEDULABLE


def standing(pod: Pod) -> PodProgress:
    """How far this pod has come, by what is written in it alone."""
    if _is_apart(pod):
        return PodProgress.APART
    verdict = scheduled(pod)
    nominated = bool(pod.status.nominated_node_name)
    if verdict is None or verdict.reason == GATED:
        return PodProgress.APART if nominated else PodProgress.UNREACHED
    if verdict.status != "False" or verdict.reason != UNSCHEDULABLE:
        return PodProgress.APART
    return PodProgress.NOMINATED if nominated else PodProgress.UNSCHEDULABLE


def scheduled(pod: Pod) -> ObservedCondition | None:
    """What the scheduler has last said about it."""
    return next((each for each in pod.status.conditions if each.type == SCHEDULED), None)


def _is_apart(pod: Pod) -> bool:
    return bool(
        pod.spec.node_name
        or pod.spec.scheduling_gates
        or pod.is_finished
        or pod.is_terminating
        or pod.is_of_daemon_set
        or pod.is_static
    )
