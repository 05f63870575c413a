"""The kinds of faults, and whether one happens now.

Each seed disables some kinds (swarm testing): faults hide each other, so many runs with a few kinds
each find more than runs with all of them. After the noisy minutes there are no more faults, so that
everything must settle.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from reconciler.simulation.chance import Chance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.simulation.timeline import Timeline


class SimulatedFault(StrEnum):
    """Kinds of faults."""

    WATCH_LAG = "watch-lag"
    """The events of one kind arrive up to a minute late."""
    WATCH_CUT = "watch-cut"
    """A watch breaks, and continues from its version or with a complete list."""
    STALE_SERVER = "stale-server"
    """A watch reconnects to a server that is behind."""
    EVENT_LOST = "event-lost"
    """An event is lost; minutes later, a complete list shows the change."""
    LOST_ANSWER = "lost-answer"
    """A write succeeds, but its answer is lost."""
    SERVER_ERROR = "server-error"
    """A write fails temporarily."""
    FOREIGN_WRITE = "foreign-write"
    """Others write to our nodes at the same time."""
    CLOUD_LOST_ANSWER = "cloud-lost-answer"
    """A machine is created, but the answer is lost."""
    CLOUD_THROTTLED = "cloud-throttled"
    """The provider throttles us."""
    STOCK_OUT = "stock-out"
    """An offer is sold out for some minutes."""
    SLOW_BOOT = "slow-boot"
    """A machine boots some minutes longer."""
    MACHINE_DIES = "machine-dies"
    """A serving node disappears with its pods."""
    OUTAGE = "outage"
    """The watch of pods is down for minutes."""
    PARTITION = "partition"
    """Most nodes are silent for minutes, but still running."""
    PODS_MISSING = "pods-missing"
    """A complete list of pods lacks half of them, or all."""
    NODE_FORGOTTEN = "node-forgotten"
    """Others delete the Node of a machine that keeps running and costs money."""
    LISTING_EMPTY = "listing-empty"
    """Listings of the cloud are empty for a while, and claim to be complete."""
    LISTING_BROKEN = "listing-broken"
    """Listings of the cloud have only half of the machines for a while, and say so."""
    LISTING_STALE = "listing-stale"
    """Listings of the cloud contain machines that are gone, for a while."""
    DELETE_FAILS = "delete-fails"
    """The deletion of a machine fails temporarily."""
    RESTART = "restart"
    """Our process ends before or after an effect, and restarts."""
    FREEZE = "freeze"
    """Our process is stopped while another one takes over, and then continues."""
    CLOCK_JUMP = "clock-jump"
    """The wall clock is moved."""
    NEVER_READY = "never-ready"
    """A machine never becomes a serving node."""
    DIES_JOINING = "dies-joining"
    """A machine dies before its node serves."""
    CORDON = "cordon"
    """A person cordons a node for a while."""
    KEPT = "kept"
    """A person protects a node with an annotation for a while."""
    NOTHING_MOVES = "nothing-moves"
    """A budget allows no disruptions for a while."""
    VISITOR = "visitor"
    """A person starts a pod that tolerates the mark of nodes."""
    SLOW_SOLVE = "slow-solve"
    """A solve takes up to half a second, may be stopped, and its worker may die."""
    LOCATION_DOWN = "location-down"
    """A location refuses all machines for some minutes."""
    QUOTA = "quota"
    """The project refuses all machines for some minutes."""
    FAILS_JOINING = "fails-joining"
    """A machine fails after it was accepted, and is listed as failed until it is deleted."""
    FOREIGN_NODE = "foreign-node"
    """A Node that isn't growth's claims a machine, in each of growth's words."""
    LYING_NODE = "lying-node"
    """The kubelet of a machine overwrites growth's words on its Node."""
    SECOND_WRITER = "second-writer"
    """Another growth with the same id buys and deletes machines in the same project."""
    POD_BUDGETS = "pod-budgets"
    """Most workloads have a PodDisruptionBudget."""
    POOL_BUDGETS = "pool-budgets"
    """People change the disruption budgets of a pool for a while."""
    SEVERAL_CLASSES = "several-classes"
    """One pool has a node class of its own, with other types, prices and boot times."""
    SPREAD = "spread"
    """Half of the workloads spread their pods over nodes or zones."""
    AFFINITY = "affinity"
    """Half of the workloads keep their pods together, apart, or away from others."""
    PRIORITY = "priority"
    """Workloads have priorities, and the scheduler preempts pods of a lower one."""
    VOLUMES = "volumes"
    """Some workloads are StatefulSets, whose volumes keep each pod in a zone."""


BY_PEOPLE = frozenset(
    {
        SimulatedFault.CORDON,
        SimulatedFault.KEPT,
        SimulatedFault.NOTHING_MOVES,
        SimulatedFault.VISITOR,
        SimulatedFault.POD_BUDGETS,
        SimulatedFault.POOL_BUDGETS,
        SimulatedFault.SEVERAL_CLASSES,
        SimulatedFault.SPREAD,
        SimulatedFault.AFFINITY,
        SimulatedFault.PRIORITY,
        SimulatedFault.VOLUMES,
    }
)
"""These aren't mistakes, but they also happen at inconvenient times."""
_KEPT = 0.5
"""The share of kinds that a seed enables."""


def drawn(seed: int) -> tuple[SimulatedFault, ...]:
    """The kinds of faults of a seed."""
    chance = Chance(seed, "swarm")
    return tuple(fault for fault in SimulatedFault if chance.happens(_KEPT))


class Faults:
    """The faults of one run. Each kind has its own random stream."""

    def __init__(
        self, kinds: Iterable[SimulatedFault], *, seed: int, timeline: Timeline, until: float
    ) -> None:
        self.kinds = frozenset(kinds)
        self._chance = {fault: Chance(seed, fault) for fault in SimulatedFault}
        self._timeline = timeline
        self._until = until

    def chance(self, kind: SimulatedFault) -> Chance:
        """The random stream of one kind."""
        return self._chance[kind]

    def strikes(self, kind: SimulatedFault, probability: float) -> bool:
        """Whether this fault happens now."""
        if kind not in self.kinds or self._timeline.now >= self._until:
            return False
        return self._chance[kind].happens(probability)
