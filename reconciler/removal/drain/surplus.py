"""A pool's scaling policy gives nodes back though pods run on them: these nodes are drained.

The surplus without pods takes the way of every idle node instead: it is marked, waits, and can
still be used. What is kept for another reason stays: `growth.keeping` says so here as everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.removal_reason import RemovalReason
from growth.keeping.besides_pods import kept_besides_pods
from reconciler.core.step import Step
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.sizes import size_of_pool
from reconciler.removal.drain.beginning import drain_begun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import ClassKey


def steps_for_surplus(
    world: World, now: Instant, seen: Mapping[ClassKey, SightedCloud]
) -> Iterator[tuple[str, Step]]:
    """A removal for each node of a surplus that has pods and that nothing but them keeps."""
    surplus = tuple(_occupied_surplus(world))
    if not surplus:
        return
    scene = scene_of(world)
    for node, pool, why in surplus:
        kept = kept_besides_pods(node, scene, now)
        if kept is not None:
            yield node.name, Step(wake_at=kept.ends_at(now))
            continue
        step = drain_begun(node, pool, world, seen, reason=RemovalReason.SURPLUS, why=why)
        if step is not None:
            yield node.name, step


def _occupied_surplus(world: World) -> Iterator[tuple[Node, NodePool, str]]:
    """The nodes that pods are on and that are drained for their policy, which says why."""
    for pool in (world.pools[name] for name in sorted(world.pools)):
        size = size_of_pool(pool, world)
        for name in sorted(size.drained() & world.cluster.nodes.keys()):
            node = world.cluster.nodes[name]
            if pool_of_node(node) == pool.name and world.cluster.occupancy(name).keepers:
                yield node, pool, size.why
