"""One step of compute nodes for one report: up, down, or none.

Up if one attribute is short, down only if all are in excess. A step is taken whole or not at all,
even if it doesn't reach the threshold: the next report decides about the next step.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleet.nodes.bounds import ZONES, restricted_ceiling, restricted_floor, size_of_step
from fleet.nodes.capacity import has_capacity

if TYPE_CHECKING:
    from fleet.core.report import AgentReport
    from fleet.nodes.scaled import ScaledCluster


class StepDirection(enum.Enum):
    """Where a step leads."""

    UP = "up"
    DOWN = "down"
    NONE = "none"


@dataclass(frozen=True)
class NodeStep:
    """A step, and how many compute nodes there should be after it."""

    direction: StepDirection
    nodes: int


def node_step(report: AgentReport, cluster: ScaledCluster) -> NodeStep:
    """The step that a report asks for. More nodes come before fewer."""
    current = report.nodes.current
    step = size_of_step(report.node_delta, multi_az=cluster.multi_az)
    if step <= 0:
        return NodeStep(StepDirection.NONE, current)
    if _goes_up(report, cluster, to=current + step):
        return NodeStep(StepDirection.UP, current + step)
    if _goes_down(report, cluster, to=current - step):
        return NodeStep(StepDirection.DOWN, current - step)
    return NodeStep(StepDirection.NONE, current)


def _goes_up(report: AgentReport, cluster: ScaledCluster, *, to: int) -> bool:
    is_short = not has_capacity(report.remaining, model_t=cluster.model_t)
    # A step is never empty, so who arrives at the ceiling began below it.
    return is_short and to <= restricted_ceiling(report.nodes.ceiling, multi_az=cluster.multi_az)


def _goes_down(report: AgentReport, cluster: ScaledCluster, *, to: int) -> bool:
    return report.remaining.exceeds(report.delta) and to >= _fewest(report, cluster)


def _fewest(report: AgentReport, cluster: ScaledCluster) -> int:
    """Three nodes stay in any case, even in a single zone: instances have three replicas."""
    floor = restricted_floor(report.nodes.floor, multi_az=cluster.multi_az)
    return max(report.nodes.workload_minimum, floor, ZONES)
