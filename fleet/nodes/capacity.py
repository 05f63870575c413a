"""The state that a report puts a cluster in: ready, scaling up or full.

It is judged on the report alone, before any step is taken: a step shows in a later report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleet.core.states import ClusterState
from fleet.nodes.bounds import restricted_ceiling, size_of_step

if TYPE_CHECKING:
    from fleet.core.amounts import CapacityAmounts
    from fleet.core.report import AgentReport
    from fleet.nodes.scaled import ScaledCluster


def has_capacity(remaining: CapacityAmounts, *, model_t: CapacityAmounts) -> bool:
    """Whether one more instance of model T has room. What is exactly enough is enough."""
    return remaining.covers(model_t)


def state_by_capacity(report: AgentReport, cluster: ScaledCluster) -> ClusterState:
    """The state by what is left. Without automatic scaling a cluster always counts as ready."""
    if not cluster.scales or has_capacity(report.remaining, model_t=cluster.model_t):
        return ClusterState.READY
    ceiling = restricted_ceiling(report.nodes.ceiling, multi_az=cluster.multi_az)
    return ClusterState.FULL if report.nodes.current >= ceiling else ClusterState.SCALING_UP


def is_stuck_below_ceiling(report: AgentReport, cluster: ScaledCluster) -> bool:
    """Whether it is scaling up, but not even one step fits below its ceiling.

    By the rules such a cluster is never full, and its region never gets another one. A person has
    to change its ceiling or its step, so it is said.
    """
    if state_by_capacity(report, cluster) is not ClusterState.SCALING_UP:
        return False
    ceiling = restricted_ceiling(report.nodes.ceiling, multi_az=cluster.multi_az)
    step = size_of_step(report.node_delta, multi_az=cluster.multi_az)
    return report.nodes.current + step > ceiling
