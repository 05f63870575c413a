"""How many machines a pool should have, as its scaling policy has answered in this pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.scaling import ScalingPolicyName
from growth.keeping.marks import pool_of_node
from growth.keeping.size import STILL, size_by_demand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.nodepool import NodePool
    from growth.keeping.size import PoolSize
    from reconciler.core.world import World


def size_of_pool(pool: NodePool, world: World) -> PoolSize:
    """The answer of the pool's policy.

    Where no policy was asked, as in a plan on paper, `Demand` needs nothing but the spec. A pool of
    any other policy is left as it is.
    """
    known = world.ledger.scaling.sizes.get(pool.name)
    if known is not None:
        return known
    is_by_demand = pool.spec.scaling.policy == ScalingPolicyName.DEMAND
    return size_by_demand(pool) if is_by_demand else STILL


def sizes_of_pools(world: World) -> Mapping[str, PoolSize]:
    """The answers of all pools' policies, by pool."""
    known = world.ledger.scaling.sizes
    # In a pass all of them have been asked: every rule reads the same mapping, and none makes its
    # own.
    if known.keys() == world.pools.keys():
        return known
    return {name: size_of_pool(pool, world) for name, pool in world.pools.items()}


def is_closed(node: str, world: World) -> bool:
    """Whether the policy of its pool lets no more pods onto the node."""
    found = world.cluster.nodes.get(node)
    size = world.ledger.scaling.sizes.get(pool_of_node(found)) if found is not None else None
    return size is not None and node in size.closed


def closed_nodes(world: World) -> Mapping[str, str]:
    """The pool of each such node that there is, by the node's name."""
    return {
        name: pool
        for pool, size in sorted(sizes_of_pools(world).items())
        for name in sorted(size.closed)
        if name in world.cluster.nodes
    }
