"""Which pods are demand: those that the scheduler has given up on, and that a node would help.

PodScheduled=False with reason Unschedulable is the scheduler's own word that no node fits. Any
other reason (an error of an extender, a gate) says nothing about nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod


def is_demand(pod: Pod) -> bool:
    """Whether a new node could be what this pod waits for."""
    if pod.spec.node_name or pod.status.nominated_node_name or pod.spec.scheduling_gates:
        return False
    if pod.is_finished or pod.is_terminating or pod.is_of_daemon_set or pod.is_static:
        return False
    return _is_unschedulable(pod)


def _is_unschedulable(pod: Pod) -> bool:
    return any(
        condition.type == "PodScheduled"
        and condition.status == "False"
        and condition.reason == "Unschedulable"
        for condition in pod.status.conditions
    )
