"""What one run decides on: a pool's nodes, requests and limits at one moment."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from growth.scheduling.resources import CPU, MEMORY, NOTHING, Resources
from reconciler.scaling.utilisation.grace import GracePeriods
from reconciler.scaling.utilisation.health import HealthCheck
from reconciler.scaling.utilisation.lock import Arrivals, LockTimes, ScaleLock
from reconciler.scaling.utilisation.nodes import GroupNode, RememberedMarks
from reconciler.scaling.utilisation.percent import Thresholds


class GroupOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What people have set for the pool."""

    min_nodes: int
    max_nodes: int
    least: int
    """Machines below which none is deleted: the minimum that the pool has besides this policy."""
    thresholds: Thresholds
    slow_rate: int
    """Nodes tainted in one run."""
    fast_rate: int
    lock_times: LockTimes
    grace: GracePeriods
    max_age: timedelta | None = None
    health: HealthCheck | None = None
    """None if nodes aren't tested."""
    scales_on_starve: bool = False


class PodDemand(msgspec.Struct, frozen=True, kw_only=True):
    """What the pods of the pool ask for."""

    pods: int = 0
    requests: Resources = NOTHING
    largest_pending: Resources = NOTHING
    """The most of each resource that one pod without a node asks for."""

    def is_starved_on(self, nodes: tuple[GroupNode, ...]) -> bool:
        """Whether the largest pending pod fits on none of the nodes."""
        return any(
            self.largest_pending[name] > max((node.free[name] for node in nodes), default=0)
            for name in (CPU, MEMORY)
        )


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A pool at one moment."""

    options: GroupOptions
    nodes: tuple[GroupNode, ...]
    demanded: PodDemand
    machines: int
    """Machines that there are, or that were asked for."""
    most: int
    """Machines that the pool may have."""
    known_size: Resources | None = None
    """What a node of the pool has for pods, known from earlier or from what is sold."""
    lock: ScaleLock | None = None
    arrivals: Arrivals | None = None
    """What there is of the machines that were asked for; None: counted from the nodes."""
    remembered: RememberedMarks | None = None
    """For a pool that only observes: what it would have tainted."""
    now: datetime
    unseen: str = ""
    """What can't be listed, such as pods."""

    def arrived(self) -> Arrivals:
        """What there is of the machines that were asked for."""
        if self.arrivals is not None:
            return self.arrivals
        late = self.options.lock_times.timeout
        waits = [node for node in self.nodes if not node.is_ready]
        return Arrivals(
            machines=len(self.nodes),
            ready=len(self.nodes) - len(waits),
            starting=sum(node.age(self.now) <= late for node in waits),
        )
