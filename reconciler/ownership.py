"""Whose our objects are: requests, removals and nodes belong to their pool, and to nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.meta import OwnerReference
from growth.api.wellknown import GROUP_VERSION, MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node


def owned_by(pool: NodePool) -> OwnerReference:
    """The mark that ties an object to its pool without holding up the pool's end."""
    return OwnerReference(
        api_version=GROUP_VERSION,
        kind="NodePool",
        name=pool.name,
        uid=pool.metadata.uid,
        controller=True,
        block_owner_deletion=False,
    )


def pool_of_node(node: Node) -> str:
    """The pool that a node was bought for, by its labels; empty for what isn't ours."""
    is_ours = node.labels.get(MANAGED_BY_LABEL) == MANAGED_BY
    return node.labels.get(POOL_LABEL, "") if is_ours else ""
