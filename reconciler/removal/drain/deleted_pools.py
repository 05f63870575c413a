"""A pool is deleted and its nodes are to go with it: each of them gets a removal at once.

Whoever deletes a pool means it, so neither idle times nor disruption budgets of the pool hold it
up. The pods' own budgets do: they alone set the pace, over all nodes together. A node that a person
has cordoned is theirs, and the pool waits for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodepool import DeletionPolicy
from growth.api.noderequest import COMING
from growth.api.removal_reason import RemovalReason
from reconciler.core.actions import OpenRemoval, machine
from reconciler.core.step import Step
from reconciler.facts.marks import is_cordoned_by_a_person
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.opening import removal_of
from reconciler.facts.ownership import pool_of_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import ClassKey


def steps_for_leaving_pools(
    world: World, seen: Mapping[ClassKey, SightedCloud]
) -> Iterator[tuple[str, Step]]:
    """A removal for each node of such a pool that its provider lists."""
    pools = {name: pool for name, pool in world.pools.items() if _is_drained(pool, world)}
    for node in world.cluster.ordered_nodes if pools else ():
        pool = pools.get(pool_of_node(node))
        cloud = None if pool is None else seen.get(node_class_of(pool, world))
        listed = None if cloud is None else cloud.listing.machines.get(node.name)
        if pool is not None and listed is not None and _goes(node, world):
            removal = removal_of(listed, pool=pool, reason=RemovalReason.POOL_DELETED)
            step = Step(actions=(OpenRemoval(removal=removal),), why="its pool is deleted")
            yield node.name, step


def _is_drained(pool: NodePool, world: World) -> bool:
    return (
        pool.metadata.deletion_timestamp is not None
        and pool.spec.deletion_policy is DeletionPolicy.DRAIN
        and not world.is_paused(pool.name)
    )


def _goes(node: Node, world: World) -> bool:
    request = world.requests.get(node.name)
    # What is on its way is given back by whoever ends its request.
    is_coming = request is not None and request.status.phase in COMING
    return (
        not is_coming
        and node.name not in world.removals
        and world.is_free(machine(node.name))
        and not is_cordoned_by_a_person(node)
    )
