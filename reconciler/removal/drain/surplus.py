"""A pool's scaling policy gives nodes back though pods run on them: these nodes are drained.

The surplus without pods takes the way of every idle node instead: it is marked, waits, and can
still be used. What a person holds stays, and so does everything in a pool that is paused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.removal_reason import RemovalReason
from growth.keeping.wanting import kept_by_hand
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.sizes import size_of_pool
from reconciler.removal.drain.beginning import drain_begun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.core.step import Step
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import ClassKey


def steps_for_surplus(
    world: World, seen: Mapping[ClassKey, SightedCloud]
) -> Iterator[tuple[str, Step]]:
    """A removal for each node of a surplus that has pods and may be drained."""
    for name, pool in sorted(world.pools.items()):
        size = size_of_pool(pool, world)
        if not size.drains or world.is_paused(name):
            continue
        for node in _occupied(size.surplus or frozenset(), pool, world):
            step = drain_begun(node, pool, world, seen, reason=RemovalReason.SURPLUS, why=size.why)
            if step is not None:
                yield node.name, step


def _occupied(names: frozenset[str], pool: NodePool, world: World) -> Iterator[Node]:
    """Those that the pool has, that pods keep, and that no person holds."""
    for name in sorted(names & world.cluster.nodes.keys()):
        node = world.cluster.nodes[name]
        is_own = pool_of_node(node) == pool.name
        if is_own and world.cluster.occupancy(name).keepers and kept_by_hand(node) is None:
            yield node
