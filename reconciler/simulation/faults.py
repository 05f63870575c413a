"""What can go wrong, by name, and whether it does now.

Every seed switches some kinds off (a swarm): faults hide each other, and a world in which
everything goes wrong at once finds less than many worlds with a few kinds each. After the last
minute nothing goes wrong any more, so that everything can be asked to settle.
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
    """The events of one kind come up to a minute late."""
    WATCH_CUT = "watch-cut"
    """A watch breaks, and goes on from its version or with a whole list."""
    STALE_SERVER = "stale-server"
    """A watch comes back at a server that is behind what was seen."""
    EVENT_LOST = "event-lost"
    """An event is never told; minutes later a whole list shows the difference."""
    LOST_ANSWER = "lost-answer"
    """A write has worked, and nobody hears of it."""
    SERVER_ERROR = "server-error"
    """A write is refused for now."""
    FOREIGN_WRITE = "foreign-write"
    """Others write on our nodes while we decide."""
    CLOUD_LOST_ANSWER = "cloud-lost-answer"
    """The machine is made, and nobody hears of it."""
    CLOUD_THROTTLED = "cloud-throttled"
    """The provider asks us to wait."""
    STOCK_OUT = "stock-out"
    """An offer can't be had for some minutes."""
    SLOW_BOOT = "slow-boot"
    """A machine takes minutes longer."""
    MACHINE_DIES = "machine-dies"
    """A node that serves is gone, with its pods."""
    OUTAGE = "outage"
    """Nothing is heard of pods for minutes."""
    PARTITION = "partition"
    """Most nodes fall silent for minutes, and nothing has happened to them."""
    PODS_MISSING = "pods-missing"
    """A whole list of pods lacks half of them, or all."""
    NODE_FORGOTTEN = "node-forgotten"
    """Somebody deletes the Node of a machine, which goes on and is paid for."""
    LISTING_EMPTY = "listing-empty"
    """The cloud shows no machine for a while, and calls that complete."""
    LISTING_BROKEN = "listing-broken"
    """The cloud shows half of the machines for a while, and says so."""
    LISTING_STALE = "listing-stale"
    """The cloud shows machines for a while that are gone."""
    DELETE_FAILS = "delete-fails"
    """A machine can't be deleted for now."""
    RESTART = "restart"
    """Our process ends before or after an effect, and starts again."""
    FREEZE = "freeze"
    """Our process stands still while another one takes over, then goes on in mid-call."""
    CLOCK_JUMP = "clock-jump"
    """The clock on the wall is moved."""
    NEVER_READY = "never-ready"
    """A machine never becomes a node that serves."""
    DIES_JOINING = "dies-joining"
    """A machine is gone before its node serves."""
    CORDON = "cordon"
    """A person cordons a node for a while."""
    KEPT = "kept"
    """A person asks that a node isn't disturbed, for a while."""
    NOTHING_MOVES = "nothing-moves"
    """A budget lets no pod be moved for a while."""
    VISITOR = "visitor"
    """A person starts a pod that tolerates the mark of nodes that are about to go."""


BY_PEOPLE = frozenset(
    {
        SimulatedFault.CORDON,
        SimulatedFault.KEPT,
        SimulatedFault.NOTHING_MOVES,
        SimulatedFault.VISITOR,
    }
)
"""No mistakes of anybody, but they come at the wrong moment like any other."""
_KEPT = 0.5
"""The share of kinds that a seed keeps."""


def drawn(seed: int) -> tuple[SimulatedFault, ...]:
    """The kinds of faults of a seed."""
    chance = Chance(seed, "swarm")
    return tuple(fault for fault in SimulatedFault if chance.happens(_KEPT))


class Faults:
    """The faults of one run. Each kind has a stream of chance of its own."""

    def __init__(
        self, kinds: Iterable[SimulatedFault], *, seed: int, timeline: Timeline, until: float
    ) -> None:
        self.kinds = frozenset(kinds)
        self._chance = {fault: Chance(seed, fault) for fault in SimulatedFault}
        self._timeline = timeline
        self._until = until

    def chance(self, kind: SimulatedFault) -> Chance:
        """The stream of one kind."""
        return self._chance[kind]

    def strikes(self, kind: SimulatedFault, probability: float) -> bool:
        """Whether this goes wrong now."""
        if kind not in self.kinds or self._timeline.now >= self._until:
            return False
        return self._chance[kind].happens(probability)
