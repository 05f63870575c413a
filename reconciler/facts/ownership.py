"""The owner of growth's objects: requests, removals and nodes belong to their pool."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from growth.api.meta import ResourceOwner
from growth.api.wellknown import GROUP_VERSION
from growth.keeping.marks import pool_of_node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.nodepool import NodePool
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from reconciler.core.world import World

__all__ = ["nodes_by_pool", "owned_by", "pool_of_node", "sees_all_pools"]


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


def nodes_by_pool(cluster: Cluster) -> Mapping[str, tuple[Node, ...]]:
    """The nodes that growth manages, by pool and name; found once for each snapshot."""
    return cluster.remembered("managed nodes by pool", partial(_nodes_by_pool, cluster))


def _nodes_by_pool(cluster: Cluster) -> Mapping[str, tuple[Node, ...]]:
    found: defaultdict[str, list[Node]] = defaultdict(list)
    for node in cluster.ordered_nodes:
        if name := pool_of_node(node):
            found[name].append(node)
    return {name: tuple(nodes) for name, nodes in found.items()}


def sees_all_pools(world: World) -> bool:
    """Whether a pool that isn't seen doesn't exist: an empty list could end everything."""
    health = world.sources.get("NodePool")
    if health is None:
        return True
    return health.blind_since is None and not health.unreadable and health.suspicion is None
