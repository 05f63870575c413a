"""Whose our objects are: requests and removals belong to their pool, and to nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.meta import OwnerReference
from growth.api.wellknown import GROUP_VERSION

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool


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
