"""The owner of growth's objects: requests, removals and nodes belong to their pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.meta import ResourceOwner
from growth.api.wellknown import GROUP_VERSION
from growth.keeping.marks import pool_of_node

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.core.world import World

__all__ = ["owned_by", "pool_of_node", "sees_all_pools"]


def owned_by(pool: NodePool) -> ResourceOwner:
    """The mark that ties an object to its pool without holding up the pool's end."""
    return ResourceOwner(
        api_version=GROUP_VERSION,
        kind="NodePool",
        name=pool.name,
        uid=pool.metadata.uid,
        controller=True,
        block_owner_deletion=False,
    )


def sees_all_pools(world: World) -> bool:
    """Whether a pool that isn't seen doesn't exist: an empty list could end everything."""
    health = world.sources.get("NodePool")
    if health is None:
        return True
    return health.blind_since is None and not health.unreadable and health.suspicion is None
