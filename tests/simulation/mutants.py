"""Mistakes that others have made, planted into parts of our process.

Each is what a reasonable person could write, and stands for one row of the catalogue of faults;
most work as long as nothing is late. Everything else of the process is the real thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from typing_extensions import override

from reconciler import planning, provisioning
from reconciler.loop import ROOMS, Room
from reconciler.planning.nominations import Nominated
from reconciler.simulation.caches import Cache
from reconciler.simulation.effects import Effects
from reconciler.simulation.faults import Fault
from reconciler.simulation.process import Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.decision import Decision
    from reconciler.world import World


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A planted mistake, and the faults under which it shows."""

    row: int
    name: str
    faults: tuple[Fault, ...]
    parts: Callable[[], Parts]


def _planned_by(decide: Callable[[World, Instant], Decision]) -> Parts:
    return _with("planning", decide)


def _with(name: str, decide: Callable[[World, Instant], Decision]) -> Parts:
    """All rooms, one of them with a mistake."""
    return Parts(rooms=tuple(Room(name, decide) if room.name == name else room for room in ROOMS))


def forgets_the_pods_of_a_node_that_serves(world: World, now: Instant) -> Decision:
    """The node has joined, so its request is done: whoever still waits is demand again."""
    impatient = msgspec.structs.replace(world.timing, bind_wait=0.0)
    return planning.decide(msgspec.structs.replace(world, timing=impatient), now)


def believes_its_cache_after_a_write(world: World, now: Instant) -> Decision:
    """What isn't in the cache isn't there."""
    known = world.ledger.planning
    forgetful = msgspec.structs.replace(known, unconfirmed={}, nominated=Nominated(), bought={})
    return planning.decide(world.remembering("planning", forgetful), now)


class GoesOn(Effects):
    """A sequence that has begun is carried to its end, whoever leads by now."""

    @override
    def may_act(self) -> bool:
        return True


class BelievesAnyServer(Cache):
    """A list is a list, however old."""

    @override
    def accepts(self, version: int) -> bool:
        return True


class WaitsForTheMoment:
    """Acts when a node turns Ready, which it has to see happen."""

    def __init__(self) -> None:
        self._seen_booting: set[str] = set()

    def __call__(self, world: World, now: Instant) -> Decision:
        nodes = world.cluster.nodes
        self._seen_booting |= {name for name, node in nodes.items() if not node.is_ready}
        shown = {
            name: node if name in self._seen_booting else _not_ready(node)
            for name, node in nodes.items()
        }
        cluster = msgspec.structs.replace(world.cluster, nodes=shown)
        return provisioning.decide(msgspec.structs.replace(world, cluster=cluster), now)


def _not_ready(node: Node) -> Node:
    status = msgspec.structs.replace(node.status, conditions=())
    return msgspec.structs.replace(node, status=status)


MUTANTS = (
    Mutant(
        row=3,
        name="forgets the pods of a node that serves",
        faults=(Fault.WATCH_LAG,),
        parts=lambda: _planned_by(forgets_the_pods_of_a_node_that_serves),
    ),
    Mutant(
        row=16,
        name="goes on when another one leads",
        # Alone a freeze hides it: what was missed arrives before anything more is decided.
        faults=(Fault.FREEZE, Fault.WATCH_LAG),
        parts=lambda: Parts(effects=GoesOn),
    ),
    Mutant(
        row=17,
        name="believes its cache after a write",
        faults=(Fault.WATCH_LAG,),
        parts=lambda: _planned_by(believes_its_cache_after_a_write),
    ),
    Mutant(
        row=18,
        name="believes a server that is behind",
        faults=(Fault.STALE_SERVER,),
        parts=lambda: Parts(cache=BelievesAnyServer),
    ),
    Mutant(
        row=19,
        name="waits for the moment a node turns Ready",
        faults=(Fault.EVENT_LOST,),
        parts=lambda: _with("provisioning", WaitsForTheMoment()),
    ),
)
