"""Idle nodes: marked, kept for a grace period, and given back unless something needs them.

A node is idle if none of its pods needs it, no pending pod has a promised place on it, and no
person has cordoned it or asked to keep it. It is marked at once (or when its paid hour is nearly
over), which keeps new pods away, and it goes when its grace period is over, counted only while
growth sees everything. A pod, a promise, a cordon or a pause before that removes the marks. Nodes
within a pool's floor are never marked. The reason comes from `growth.keeping`, so what is done and
what is shown agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.removal_reason import RemovalReason
from growth.keeping.answer import of_unoccupied
from growth.keeping.wanting import KeepingReason, occupied
from reconciler.core.actions import OpenRemoval, machine
from reconciler.core.step import WAIT, Step
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.listings import listed_machine
from reconciler.facts.marks import (
    barred,
    is_barred,
    is_marked,
    is_tainted,
    marked,
    scale_down_at,
    tainted,
)
from reconciler.facts.marks import unmarked as without_marks
from reconciler.facts.opening import removal_of
from reconciler.facts.ownership import nodes_by_pool, pool_of_node
from reconciler.facts.sizes import closed_nodes, is_closed, size_of_pool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.keeping.wanting import Keeping
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.facts.sighted_clock import SightedClock
    from reconciler.providers.port import ClassKey, Machine

GOES: Final = frozenset({KeepingReason.IDLE, KeepingReason.PAID})
"""With these reasons a node is given back: at once, or when its paid hour is nearly over."""
Ends = dict[str, float]
"""When marked nodes go, by name, on the clock that runs only while growth sees everything."""


def ends(world: World, now: Instant, clock: SightedClock) -> Ends:
    """When each marked node goes; wall time counts only when a mark is first seen."""
    known = world.ledger.removal.ends
    return {
        name: known[name] if name in known else clock.now + _left(node, world, now)
        for name, node in tainted(world.cluster).items()
    }


def _left(node: Node, world: World, now: Instant) -> float:
    pool = world.pools.get(pool_of_node(node))
    longest = 0.0 if pool is None else size_of_pool(pool, world).grace_of(node.name, pool)
    at = scale_down_at(node)
    if at is None:
        return longest
    # A date that lies ahead, by another clock or by hand, holds the node no longer than its grace
    # period.
    return min(max(world.ledger.removal.unseen - now.seconds_since(at), 0.0), longest)


def steps_for_idle_nodes(
    world: World, now: Instant, *, seen: Mapping[ClassKey, SightedCloud], clock: SightedClock
) -> Iterator[tuple[str, Step]]:
    """The next step for each node that no pod keeps, and for each node that is marked."""
    unoccupied: list[Node] = []
    closed = closed_nodes(world)
    yield from _closings(closed, world, now)
    for node in (*_of_interest(world.cluster), *_marked_by_others(world)):
        name = node.name
        if name in world.removals or pool_of_node(node) not in world.pools:
            continue
        if name in closed and not _may_go(node, closed[name], world):
            continue
        keepers = world.cluster.occupancy(name).keepers
        if not keepers:
            unoccupied.append(node)
        else:
            yield name, _kept(node, occupied(keepers), world, now)
    keepings = of_unoccupied(unoccupied, scene_of(world), now) if unoccupied else {}
    for node in unoccupied:
        keeping = keepings[node.name]
        if keeping.reason in GOES:
            yield node.name, _given_back(node, keeping, world, now, seen=seen, clock=clock)
        else:
            yield node.name, _kept(node, keeping, world, now)


def _closings(closed: Mapping[str, str], world: World, now: Instant) -> Iterator[tuple[str, Step]]:
    """The mark of each node that a policy has closed and that doesn't bear it yet."""
    for name, pool in closed.items():
        node, size = world.cluster.nodes[name], size_of_pool(world.pools[pool], world)
        is_ours = name not in world.removals and not world.is_paused(pool)
        if is_ours and not is_tainted(node) and world.is_free(machine(name)):
            seconds = size.grace_of(name, world.pools[pool])
            mark = marked(node, now, seconds=seconds, effect=size.mark_effect)
            yield name, Step(actions=(mark,), why=size.why)


def _may_go(node: Node, pool: str, world: World) -> bool:
    """Whether a closed node is given back like any other: if its policy lets it, and it is empty.

    Otherwise it keeps its mark, whatever keeps it.
    """
    size = size_of_pool(world.pools[pool], world)
    is_left = is_tainted(node) and not world.cluster.occupancy(node.name).keepers
    return is_left and not size.keeps(node.name)


def _marked_by_others(world: World) -> Iterator[Node]:
    """Nodes with the mark of another autoscaler that their pool's policy wants again."""
    for name, pool in sorted(world.pools.items()):
        marks = size_of_pool(pool, world).marks_of_others
        for node in nodes_by_pool(world.cluster).get(name, ()) if marks else ():
            if not node.taint_keys.isdisjoint(marks) and not is_marked(node):
                yield node


def _of_interest(cluster: Cluster) -> tuple[Node, ...]:
    """Nodes that no pod keeps or that are marked; found once for each snapshot of the cluster."""
    return cluster.remembered(
        "idle or marked",
        lambda: tuple(
            node
            for node in cluster.ordered_nodes
            if is_marked(node) or not cluster.occupancy(node.name).keepers
        ),
    )


def _kept(node: Node, keeping: Keeping, world: World, now: Instant) -> Step:
    pool = world.pools[pool_of_node(node)]
    theirs = size_of_pool(pool, world).marks_of_others
    is_taken = is_marked(node) or not node.taint_keys.isdisjoint(theirs)
    if is_taken and not is_closed(node.name, world) and world.is_free(machine(node.name)):
        actions = (without_marks(node, theirs),)
        return Step(actions=actions, why=f"the node stays: {keeping.why}")
    return Step(wake_at=keeping.ends_at(now))


def _given_back(
    node: Node,
    keeping: Keeping,
    world: World,
    now: Instant,
    *,
    seen: Mapping[ClassKey, SightedCloud],
    clock: SightedClock,
) -> Step:
    if not clock.runs or not world.is_free(machine(node.name)):
        return WAIT
    pool = world.pools[pool_of_node(node)]
    if is_tainted(node):
        end = world.ledger.removal.ends.get(node.name, clock.now)
        # People may want it gone at once after it has been marked to go later.
        if end > clock.now and node.name not in size_of_pool(pool, world).at_once:
            return Step(wake_at=clock.wake_at(end))
        return _opened(node, pool, listed_machine(node, pool, world, seen))
    if keeping.reason is KeepingReason.PAID:
        return Step(wake_at=keeping.ends_at(now))
    size = size_of_pool(pool, world)
    seconds = size.grace_of(node.name, pool)
    mark = marked(node, now, seconds=seconds, effect=size.mark_effect)
    return Step(actions=(mark,), why="the node is idle")


def _opened(node: Node, pool: NodePool, listed: Machine | None) -> Step:
    """Only a machine that the provider lists can be given back, under the id in the listing."""
    if listed is None:
        return WAIT
    opened = OpenRemoval(removal=removal_of(listed, pool=pool, reason=RemovalReason.IDLE))
    # The second taint first. A pod that tolerates the mark was bound between the last look at the
    # node's pods and the delete, and ended with the machine.
    actions = (opened,) if is_barred(node) else (barred(node), opened)
    return Step(actions=actions, why="the node was idle long enough")
