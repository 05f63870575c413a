"""Pools that may have machines which growth doesn't know yet.

After an upgrade from a growth that wrote no records, Nodes claim to be growth's and have none. The
provider's listing shows which of them are machines, and they get their records. Until then growth
would take such a pool for empty: it would buy again what is there. So the pool waits. A Node that
lies can delay its pool until the first listing, and no longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.wellknown import MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL
from reconciler.facts.node_classes import node_class_of
from reconciler.providers.port import MachineState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey


def claimed_pool(node: Node) -> str:
    """The pool that a Node claims to be of, as it is written; "" if it claims none."""
    labels = node.labels
    return labels.get(POOL_LABEL, "") if labels.get(MANAGED_BY_LABEL) == MANAGED_BY else ""


def unsettled_pools(
    world: World, *, believes: Callable[[ClassKey], bool]
) -> Iterator[tuple[str, str]]:
    """Each pool that has to wait, with a Node that may be a machine of it."""
    for name, node in sorted(world.strangers.items()):
        pool = world.pools.get(claimed_pool(node))
        if pool is not None and _may_be_machine(name, pool, world, believes=believes):
            yield pool.name, name


def _may_be_machine(
    name: str, pool: NodePool, world: World, *, believes: Callable[[ClassKey], bool]
) -> bool:
    if name in world.records or name in world.requests:
        # Growth knows the machine of this name. This Node isn't it, or is about to be believed.
        return False
    key = node_class_of(pool, world)
    sight = world.clouds.get(key)
    if sight is None or sight.listing is None or not believes(key):
        return True
    listed = sight.listing.machines.get(name)
    is_there = listed is not None and listed.state is not MachineState.DELETING
    return is_there and listed is not None and bool(listed.server_type and listed.location)
