"""Which nodes have been sick for so long that another one takes their place.

Sick is a node that has served and isn't Ready: its kubelet is silent, or says so itself. The time
runs on the clock of what we saw (removal/seeing.py), from the first look: neither an outage of ours
nor a restart makes a node sick for longer than we have seen it so. And a silent kubelet is one
witness only; the second is its cloud, which has to list the machine. What no listing shows isn't
sick but gone, and removal frees its node.

When many are sick at once, the fault isn't theirs: a network is cut, or the API server is deaf.
Then nothing is repaired, and the pools say so (many_sick.py). All that aren't Ready now count for
that, whether their time is over or not, since in such an hour they fall silent one by one. Nodes of
others don't count: who keeps a dozen dead machines would have none of ours repaired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.api.noderequest import RequestPhase
from growth.api.wellknown import UNREGISTERED_TAINT
from reconciler.decision import NEVER, earliest
from reconciler.ownership import pool_of_node
from reconciler.planning.offers import node_class_of
from reconciler.providers.port import MachineState
from reconciler.removal.seeing import clock
from reconciler.removal.sights import clouds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.instant import Instant
    from growth.scheduling.metadata import Condition
    from growth.scheduling.node import Node
    from reconciler.removal.seeing import Clock
    from reconciler.removal.sights import Cloud
    from reconciler.world import World

MOST: Final = 20
"""Per cent of a pool's nodes, or of all, that may be sick: Karpenter's figure. It is rounded up, so
that one sick node of a small pool is repaired."""


class Count(NamedTuple):
    """Of some nodes."""

    sick: int
    nodes: int

    @property
    def is_too_high(self) -> bool:
        """Whether so many at once mean that the fault isn't theirs."""
        return self.sick > max(1, -(-self.nodes * MOST // 100))


class Spell(NamedTuple):
    """A time in which a node isn't Ready."""

    since: float
    """On the clock of what was seen."""
    changed: str | None
    """When the node says that it began: it may have been well between two looks."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of sick nodes between two passes."""

    spells: Mapping[str, Spell] = {}
    """By node."""
    held: Mapping[str, Count] = {}
    """Pools in which nothing is repaired, each with the count that holds it."""


def sick(world: World, now: Instant, before: Health) -> tuple[Health, Mapping[str, str], float]:
    """What is remembered, the nodes to be replaced with what they lack, and when to ask again."""
    shown = clock(world, now)
    ours = _settled(world)
    health = Health(spells=_spells(ours, before, shown), held=_held(ours))
    if not shown.runs:
        return health, {}, NEVER
    due = {name: each.since + world.timing.repair_after for name, each in health.spells.items()}
    listed = _listed(ours, world)
    found = {
        node.name: _why(node, world)
        for pool, nodes in ours.items()
        if pool not in health.held
        for node in nodes
        if due.get(node.name, NEVER) <= shown.now and node.name in listed
    }
    return health, found, earliest(shown.wake_at(end) for end in due.values() if end > shown.now)


def _spells(ours: Mapping[str, list[Node]], before: Health, shown: Clock) -> Mapping[str, Spell]:
    found: dict[str, Spell] = {}
    for node in (node for nodes in ours.values() for node in nodes if not node.is_ready):
        ready = _ready_of(node)
        new = Spell(shown.now, ready.last_transition_time if ready else None)
        known = before.spells.get(node.name, new)
        found[node.name] = known if known.changed == new.changed else new
    return found


def _ready_of(node: Node) -> Condition | None:
    return next((each for each in node.status.conditions if each.type == "Ready"), None)


def _settled(world: World) -> Mapping[str, list[Node]]:
    """The nodes that have served, by pool: what has never been Ready isn't sick but late."""
    found: defaultdict[str, list[Node]] = defaultdict(list)
    for name, node in sorted(world.cluster.nodes.items()):
        request = world.requests.get(name)
        is_coming = request is not None and request.status.phase is not RequestPhase.READY
        is_new = any(taint.key == UNREGISTERED_TAINT for taint in node.spec.taints)
        if pool_of_node(node) in world.pools and not is_coming and not is_new:
            found[pool_of_node(node)].append(node)
    return found


def _held(ours: Mapping[str, list[Node]]) -> Mapping[str, Count]:
    counts = {pool: _count(nodes) for pool, nodes in ours.items()}
    of_all = _count(node for nodes in ours.values() for node in nodes)
    if of_all.is_too_high:
        return dict.fromkeys(counts, of_all)
    return {pool: count for pool, count in counts.items() if count.is_too_high}


def _count(nodes: Iterable[Node]) -> Count:
    ready = [node.is_ready for node in nodes]
    return Count(sick=ready.count(False), nodes=len(ready))


def _listed(ours: Mapping[str, list[Node]], world: World) -> frozenset[str]:
    """The nodes whose machines are there, as clouds say that are believed."""
    seen = clouds(world)
    return frozenset(
        node.name
        for pool, nodes in ours.items()
        for node in nodes
        if _is_listed(node, seen.get(node_class_of(world.pools[pool], world)))
    )


def _is_listed(node: Node, cloud: Cloud | None) -> bool:
    machine = None if cloud is None else cloud.listing.machines.get(node.name)
    return machine is not None and machine.state is not MachineState.DELETING


def _why(node: Node, world: World) -> str:
    lasts = f"for more than {world.timing.repair_after:.0f} s"
    ready = _ready_of(node)
    if ready is None or ready.status != "False":
        return f"its kubelet has been silent {lasts}"
    return f"it has not been Ready {lasts}: {ready.message or ready.reason or 'it says no more'}"
