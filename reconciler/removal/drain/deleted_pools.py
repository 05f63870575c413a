"""Drains the nodes of a pool that is deleted with `Drain`: each gets a removal at once.

Deleting a pool is a clear decision, so neither idle times nor the pool's disruption budgets delay
it. Only the PodDisruptionBudgets of its pods do, across all nodes. A node that a person has
cordoned is left alone, and the pool waits for that person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodepool import DeletionPolicy
from growth.api.removal_reason import RemovalReason
from reconciler.facts.ownership import pool_of_node
from reconciler.removal.drain.beginning import drain_begun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.nodepool import NodePool
    from reconciler.core.step import Step
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import ClassKey


def steps_for_leaving_pools(
    world: World, seen: Mapping[ClassKey, SightedCloud]
) -> Iterator[tuple[str, Step]]:
    """A removal for each node of such a pool that its provider lists."""
    pools = {name: pool for name, pool in world.pools.items() if _is_drained(pool, world)}
    # Nearly always no pool is deleted, and this is asked in each pass.
    for node in world.cluster.ordered_nodes if pools else ():
        pool = pools.get(pool_of_node(node))
        if pool is None:
            continue
        step = drain_begun(
            node, pool, world, seen, reason=RemovalReason.POOL_DELETED, why="its pool is deleted"
        )
        if step is not None:
            yield node.name, step


def _is_drained(pool: NodePool, world: World) -> bool:
    return (
        pool.metadata.deletion_timestamp is not None
        and pool.spec.deletion_policy is DeletionPolicy.DRAIN
        and not world.is_paused(pool.name)
    )
