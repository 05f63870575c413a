"""Nodes without pods: marked, left for a while, and given back unless somebody wants them.

A node is idle if none of its pods would miss it, nobody has been promised a place on it, and no
person has laid a hand on it. It is marked at once (or when its paid hour is nearly over), which
keeps new pods away; it goes when its time is over on the clock of what we saw. A pod, a promise, a
cordon or a pause before that takes the marks off again. What a pool keeps at least is never marked.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from growth.api.noderemovalrequest import RemovalPhase, RemovalReason
from growth.api.noderequest import RequestPhase
from growth.keeping.marks import is_unregistered
from growth.keeping.order import in_order, kept_at_least
from reconciler.actions import OpenRemoval, machine
from reconciler.marks import barred, is_barred, is_marked, is_tainted, marked, scale_down_at
from reconciler.marks import unmarked as without_marks
from reconciler.ownership import pool_of_node
from reconciler.planning.offers import node_class_of
from reconciler.removal.opening import removal_of
from reconciler.removal.paid_hours import seconds_until_marked
from reconciler.removal.wanted import promised, wanted
from reconciler.step import WAIT, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.providers.port import ClassKey, Machine
    from reconciler.removal.seeing import Clock
    from reconciler.removal.sights import Cloud
    from reconciler.world import World

Ends = dict[str, float]
"""When marked nodes go, on the clock of what we saw, by name."""


def ends(world: World, now: Instant, shown: Clock) -> Ends:
    """When each marked node goes; the clock on the wall is asked once, at the first sight."""
    known = world.ledger.removal.ends
    return {
        name: known[name] if name in known else shown.now + _left(node, world, now)
        for name, node in world.cluster.nodes.items()
        if is_tainted(node)
    }


def _left(node: Node, world: World, now: Instant) -> float:
    pool = world.pools.get(pool_of_node(node))
    longest = 0.0 if pool is None else pool.spec.scale_down.idle_after.seconds
    at = scale_down_at(node)
    if at is None:
        return longest
    return min(max(world.ledger.removal.unseen - now.seconds_since(at), 0.0), longest)


def steps(
    world: World, now: Instant, *, seen: Mapping[ClassKey, Cloud], shown: Clock
) -> Iterator[tuple[str, Step]]:
    """What is to be done with each node that is idle, or was."""
    promises = promised(world)
    ours: defaultdict[str, list[Node]] = defaultdict(list)
    for name, node in sorted(world.cluster.nodes.items()):
        if world.cluster.occupancy(name).keepers and not is_marked(node):
            continue
        pool = pool_of_node(node)
        if pool not in world.pools or name in world.removals:
            continue
        if reason := wanted(node, world, promises):
            yield from _kept(node, world, why=reason)
        else:
            ours[pool].append(node)
    if shown.runs:
        for pool, idle in sorted(ours.items()):
            yield from _given_back(world.pools[pool], idle, world, now, seen=seen, shown=shown)


def _kept(node: Node, world: World, *, why: str) -> Iterator[tuple[str, Step]]:
    if is_marked(node) and world.is_free(machine(node.name)):
        yield node.name, Step(actions=(without_marks(node),), why=f"the node stays: {why}")


def _given_back(
    pool: NodePool,
    idle: Iterable[Node],
    world: World,
    now: Instant,
    *,
    seen: Mapping[ClassKey, Cloud],
    shown: Clock,
) -> Iterator[tuple[str, Step]]:
    ordered = in_order(idle, pool, world.cluster)
    least = set(kept_at_least(ordered, pool, world.cluster, leaving=_leaving(world)))
    for node in ordered:
        if node.name in least:
            yield from _kept(node, world, why="its pool keeps so many")
        elif world.is_free(machine(node.name)):
            cloud = seen.get(node_class_of(pool, world))
            yield node.name, _step(node, pool, world, now, cloud=cloud, shown=shown)


def _leaving(world: World) -> frozenset[str]:
    return frozenset(
        name
        for name, removal in world.removals.items()
        if removal.status.phase is not RemovalPhase.REMOVAL_FAILED
    )


def _step(
    node: Node,
    pool: NodePool,
    world: World,
    now: Instant,
    *,
    cloud: Cloud | None,
    shown: Clock,
) -> Step:
    if is_tainted(node):
        end = world.ledger.removal.ends.get(node.name, shown.now)
        if end > shown.now:
            return Step(wake_at=shown.wake_at(end))
        return _opened(node, pool, cloud)
    wait = max(_settles_in(node, world, now), seconds_until_marked(node, pool, world, now))
    if wait > 0:
        return Step(wake_at=now.monotonic + wait)
    seconds = pool.spec.scale_down.idle_after.seconds
    return Step(actions=(marked(node, now, seconds=seconds),), why="the node is idle")


def _settles_in(node: Node, world: World, now: Instant) -> float:
    """A new node has some time for the pods that it was bought for, and isn't idle before."""
    if is_unregistered(node):
        return float("inf")
    request = world.requests.get(node.name)
    if request is None:
        return 0.0
    ready_at = request.status.ready_at
    if request.status.phase is not RequestPhase.READY or ready_at is None:
        return float("inf")
    wait = world.timing.bind_wait
    return min(wait - now.seconds_since(ready_at), wait)


def _opened(node: Node, pool: NodePool, cloud: Cloud | None) -> Step:
    """Only what the provider lists can be given back, and under the id that it lists."""
    listed = None if cloud is None else _listed(node, cloud)
    if listed is None:
        return WAIT
    opened = OpenRemoval(removal=removal_of(listed, pool=pool, reason=RemovalReason.IDLE))
    actions = (opened,) if is_barred(node) else (barred(node), opened)
    return Step(actions=actions, why="the node was idle long enough")


def _listed(node: Node, cloud: Cloud) -> Machine | None:
    return cloud.listing.machines.get(node.name)
