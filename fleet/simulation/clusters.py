"""Clusters as they really are: nodes that come and go, instances, and deletions that take time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fleet.core.amounts import CapacityAmounts
from fleet.core.provider import ClusterSight, NodeCounts, ProviderProgress
from fleet.core.report import AgentCondition, AgentReport, ReportedNodes
from fleet.nodes.bounds import ZONES, round_up

if TYPE_CHECKING:
    from datetime import datetime

ONE: Final = CapacityAmounts(connections=100, partitions=100)
"""What an instance needs."""
PER_NODE: Final = 2
"""Instances that a node has room for."""
CEILING: Final = 9
FLOOR: Final = 3


@dataclass
class RealCluster:
    """One cluster at its provider."""

    name: str
    record_uid: int
    ready_in: int
    """Ticks until it is there."""
    fails: bool = False
    wanted: int = 3
    existing: int = 3
    instances: int = 0
    is_equipped: bool = False
    is_deleting: bool = False
    leaves_in: int = 0
    """Ticks until it is gone, once it is being deleted."""
    nodes_stand_still: int = 0
    """Ticks in which no node comes or goes."""
    agent_silent: int = 0
    """Ticks in which its agent doesn't report."""
    version: int = 0
    old_reports: list[AgentReport] = field(default_factory=list)

    def tick(self) -> None:
        """Let one tick pass."""
        self.ready_in = max(0, self.ready_in - 1)
        self.agent_silent = max(0, self.agent_silent - 1)
        if self.is_deleting:
            self.leaves_in -= 1
        elif self.nodes_stand_still:
            self.nodes_stand_still -= 1
        elif self.existing != self.wanted:
            self.existing += 1 if self.existing < self.wanted else -1

    @property
    def room(self) -> int:
        """How many more instances fit on the nodes that are there."""
        return self.existing * PER_NODE - self.instances

    @property
    def fewest(self) -> int:
        """How many nodes its instances need."""
        return max(FLOOR, round_up(-(-self.instances // PER_NODE), multiple=ZONES))

    def sight(self) -> ClusterSight:
        """What its provider shows."""
        return ClusterSight(
            progress=self._progress(),
            counts=NodeCounts(desired=self.wanted, existing=self.existing),
            is_deleting=self.is_deleting,
            is_equipped=self.is_equipped,
        )

    def _progress(self) -> ProviderProgress:
        if self.ready_in:
            return ProviderProgress.INSTALLING
        return ProviderProgress.ERROR if self.fails else ProviderProgress.READY

    def report(self, now: datetime) -> AgentReport:
        """What its agent reports."""
        return AgentReport(
            conditions=(AgentCondition(type="Ready", status="True"),),
            total=_times(self.existing * PER_NODE),
            remaining=_times(self.room),
            nodes=ReportedNodes(
                ceiling=CEILING, floor=FLOOR, current=self.existing, workload_minimum=self.fewest
            ),
            node_delta=ZONES,
            delta=_times(ZONES * PER_NODE),
            instances=self.instances,
            written_at=now,
        )


def _times(instances: int) -> CapacityAmounts:
    return CapacityAmounts(
        connections=instances * ONE.connections, partitions=instances * ONE.partitions
    )
