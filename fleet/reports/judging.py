"""What follows from a report: the state of its cluster, and at most one step of its nodes.

The order counts: reports that don't count are ignored before they are read; an agent that isn't
ready makes its cluster wait; the state is judged before any step; and no step is taken while
another one is under way.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleet.core.states import REPORTING, ClusterState
from fleet.nodes.capacity import is_stuck_below_ceiling, state_by_capacity
from fleet.nodes.progress import NodesUnknown, is_scaling
from fleet.nodes.steps import StepDirection, node_step
from fleet.reports.readiness import agent_is_ready

if TYPE_CHECKING:
    from fleet.core.provider import NodeCounts
    from fleet.core.report import AgentReport
    from fleet.nodes.scaled import ScaledCluster
    from fleet.nodes.steps import NodeStep


class NoStep(enum.Enum):
    """Why a report leads to no step of the nodes."""

    IGNORED = "reports don't count in this state"
    AGENT_NOT_READY = "the agent isn't ready"
    NOT_AUTOMATIC = "its fleet doesn't scale by itself"
    NODES_UNKNOWN = "how many nodes there are isn't known"
    SCALING = "an earlier step is still under way"
    STALE = "the report counts other nodes than there are"
    STUCK = "no step fits below its ceiling"
    NOT_NEEDED = "the nodes are right"


@dataclass(frozen=True)
class ReportVerdict:
    """What follows from a report."""

    state: ClusterState
    step: NodeStep | NoStep


def judged_report(
    report: AgentReport, *, state: ClusterState, cluster: ScaledCluster, counts: NodeCounts
) -> ReportVerdict:
    """What follows from a report of a cluster in this state."""
    if state not in REPORTING:
        return ReportVerdict(state, NoStep.IGNORED)
    if not agent_is_ready(report.conditions):
        return ReportVerdict(ClusterState.WAITING, NoStep.AGENT_NOT_READY)
    return ReportVerdict(state_by_capacity(report, cluster), _step(report, cluster, counts))


def _step(report: AgentReport, cluster: ScaledCluster, counts: NodeCounts) -> NodeStep | NoStep:
    if not cluster.scales:
        return NoStep.NOT_AUTOMATIC
    try:
        if is_scaling(counts):
            return NoStep.SCALING
    except NodesUnknown:
        return NoStep.NODES_UNKNOWN
    # An old report, or one sent twice, must not undo a step that was taken since.
    if report.nodes.current != counts.existing:
        return NoStep.STALE
    return _needed(report, cluster)


def _needed(report: AgentReport, cluster: ScaledCluster) -> NodeStep | NoStep:
    step = node_step(report, cluster)
    if step.direction is not StepDirection.NONE:
        return step
    is_stuck = is_stuck_below_ceiling(report, cluster)
    return NoStep.STUCK if is_stuck else NoStep.NOT_NEEDED
