"""Which nodes have been sick for so long that they are replaced.

A node is sick if it has served and isn't Ready: its kubelet is silent, or reports NotReady. The
time runs on the clock that stops while growth is blind (facts/sighted_clock.py), from the first
look, so neither an outage nor a restart of growth makes a node sick for longer than growth has seen
it so. A silent kubelet alone isn't enough: the cloud has to list the machine. A machine that no
listing shows isn't sick but gone, and removal deletes its Node.

If many nodes are sick at once, the cause is elsewhere: the network, or the API server. Then nothing
is repaired, and the pools have a condition (pools/many_sick.py). All nodes that aren't Ready now
count, even for a short time, because in such a case they fail one by one; and this time doesn't
count for any of them. Nodes outside growth's pools don't count: a dozen dead machines that someone
keeps would block every repair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.api.noderequest import RequestPhase
from growth.keeping.marks import is_unregistered
from reconciler.core.decision import earliest
from reconciler.facts.listings import clouds
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.sighted_clock import sighted_clock
from reconciler.providers.port import MachineState

if TYPE_CHECKING:
    from collections.abc import Container

    from growth.instant import Instant
    from growth.scheduling.metadata import ObservedCondition
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.facts.sighted_clock import SightedClock
    from reconciler.providers.port import ClassKey

MOST: Final = 20
"""The percentage of a pool's nodes, or of all nodes, that may be sick; Karpenter uses the same.
It is rounded up, so that one sick node of a small pool is repaired."""


class HealthCount(NamedTuple):
    """How many of some nodes are sick."""

    sick: int
    nodes: int

    @property
    def is_too_high(self) -> bool:
        """Whether so many are sick at once that the cause must be elsewhere."""
        return self.sick > max(1, -(-self.nodes * MOST // 100))


class Spell(NamedTuple):
    """A time in which a node isn't Ready."""

    since: float
    """On the clock that stops while growth is blind."""
    changed: str | None
    """When it began by the node's condition; a change means that it was Ready in between."""


class SickNodes(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered about sick nodes between two passes."""

    spells: Mapping[str, Spell] = {}
    """The times of sickness, by node."""
    held: Mapping[str, HealthCount] = {}
    """Pools in which nothing is repaired, each with the count that holds it."""


def sick(
    world: World, now: Instant, before: SickNodes
) -> tuple[SickNodes, Mapping[str, str], float]:
    """What to remember, the nodes to replace with the reason, and when to be called again."""
    clock, herds = sighted_clock(world, now), _herds(world)
    held = _held(herds)
    spells = _spells(herds, before.spells, held, clock)
    due = {name: each.since + world.timing.repair_after for name, each in spells.items()}
    over = [node for herd in herds.values() for node in herd.sick if due[node.name] <= clock.now]
    # While growth is blind no cloud is believed, and this is empty.
    seen = clouds(world) if over else {}
    found = {node.name: _why(node, world) for node in over if _is_listed(node, world, seen)}
    wake_at = earliest(clock.wake_at(end) for end in due.values() if end > clock.now)
    return SickNodes(spells=spells, held=held), found, wake_at


class Herd(NamedTuple):
    """The nodes of a pool that have served: one that was never Ready isn't sick but late."""

    names: frozenset[str]
    sick: tuple[Node, ...]

    @property
    def tally(self) -> HealthCount:
        """How many of them are sick."""
        return HealthCount(sick=len(self.sick), nodes=len(self.names))


def _herds(world: World) -> Mapping[str, Herd]:
    joined = world.cluster.remembered("herds", lambda: _joined(world))
    if not any(herd.sick for herd in joined.values()):
        # The counts matter only if some nodes are sick, so the walk over requests is skipped.
        return {}
    coming = frozenset(
        name
        for name, request in world.requests.items()
        if request.status.phase is not RequestPhase.READY
    )
    return {
        pool: Herd(
            names=herd.names - coming,
            sick=tuple(node for node in herd.sick if node.name not in coming),
        )
        for pool, herd in joined.items()
        if pool in world.pools
    }


def _joined(world: World) -> Mapping[str, Herd]:
    """The sick nodes by their conditions; counted once for each snapshot of the cluster."""
    found: defaultdict[str, list[Node]] = defaultdict(list)
    for node in world.cluster.nodes.values():
        # The start-up taint tells a node that has never served, without a look at its request.
        pool = pool_of_node(node)
        if pool and not is_unregistered(node):
            found[pool].append(node)
    return {
        pool: Herd(
            names=frozenset(node.name for node in nodes),
            sick=tuple(
                sorted((node for node in nodes if not node.is_ready), key=lambda node: node.name)
            ),
        )
        for pool, nodes in sorted(found.items())
    }


def _spells(
    herds: Mapping[str, Herd],
    before: Mapping[str, Spell],
    held: Container[str],
    clock: SightedClock,
) -> Mapping[str, Spell]:
    found: dict[str, Spell] = {}
    for pool, node in ((pool, node) for pool, herd in herds.items() for node in herd.sick):
        ready = _ready_of(node)
        new = Spell(clock.now, ready.last_transition_time if ready else None)
        # After a common outage nodes come back one by one; for the last ones the time starts anew.
        known = new if pool in held else before.get(node.name, new)
        found[node.name] = known if known.changed == new.changed else new
    return found


def _ready_of(node: Node) -> ObservedCondition | None:
    return next((each for each in node.status.conditions if each.type == "Ready"), None)


def _held(herds: Mapping[str, Herd]) -> Mapping[str, HealthCount]:
    counts = {pool: herd.tally for pool, herd in herds.items()}
    of_all = HealthCount(
        sick=sum(count.sick for count in counts.values()),
        nodes=sum(count.nodes for count in counts.values()),
    )
    if of_all.is_too_high:
        return dict.fromkeys(counts, of_all)
    return {pool: count for pool, count in counts.items() if count.is_too_high}


def _is_listed(node: Node, world: World, seen: Mapping[ClassKey, SightedCloud]) -> bool:
    """Whether a believed listing shows its machine."""
    cloud = seen.get(node_class_of(world.pools[pool_of_node(node)], world))
    machine = None if cloud is None else cloud.listing.machines.get(node.name)
    return machine is not None and machine.state is not MachineState.DELETING


def _why(node: Node, world: World) -> str:
    lasts = f"for more than {world.timing.repair_after:.0f} s"
    ready = _ready_of(node)
    if ready is None or ready.status != "False":
        return f"its kubelet has been silent {lasts}"
    return f"it has not been Ready {lasts}: {ready.message or ready.reason or 'it gives no reason'}"
