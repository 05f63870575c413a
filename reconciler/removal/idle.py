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
from reconciler.facts.ownership import pool_of_node

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
    longest = 0.0 if pool is None else pool.spec.scale_down.idle_after.seconds
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
    for node in _of_interest(world.cluster):
        name = node.name
        if name in world.removals or pool_of_node(node) not in world.pools:
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
    if is_marked(node) and world.is_free(machine(node.name)):
        return Step(actions=(without_marks(node),), why=f"the node stays: {keeping.why}")
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
        if end > clock.now:
            return Step(wake_at=clock.wake_at(end))
        return _opened(node, pool, listed_machine(node, pool, world, seen))
    if keeping.reason is KeepingReason.PAID:
        return Step(wake_at=keeping.ends_at(now))
    seconds = pool.spec.scale_down.idle_after.seconds
    return Step(actions=(marked(node, now, seconds=seconds),), why="the node is idle")


def _opened(node: Node, pool: NodePool, listed: Machine | None) -> Step:
    """Only a machine that the provider lists can be given back, under the id in the listing."""
    if listed is None:
        return WAIT
    opened = OpenRemoval(removal=removal_of(listed, pool=pool, reason=RemovalReason.IDLE))
    # The second taint first. A pod that tolerates the mark was bound between the last look at the
    # node's pods and the delete, and ended with the machine.
    actions = (opened,) if is_barred(node) else (barred(node), opened)
    return Step(actions=actions, why="the node was idle long enough")
