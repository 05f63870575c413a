"""Whether a node serves, by what its pool says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.wellknown import POOL_LABEL
from growth.keeping import serving

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.core.world import World


def serves_now(node: Node, world: World) -> bool:
    """Whether the scheduler can put ordinary pods on a node by now."""
    return serving.serves(node, _pool_of(node, world))


def passing_taints_of(node: Node, world: World) -> frozenset[str]:
    """The keys of taints that a node of ours has only until it serves."""
    return serving.passing_taints(_pool_of(node, world))


def _pool_of(node: Node, world: World) -> NodePool | None:
    return world.pools.get(node.labels.get(POOL_LABEL, ""))
