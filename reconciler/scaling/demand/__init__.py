"""The policy `Demand`: pending pods buy machines, and idle machines are given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.keeping.size import PoolSize, size_by_demand

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World


def sized_by_demand(_world: World, pool: NodePool, _now: Instant) -> PoolSize:
    """The size in the spec: planning buys for pods by itself, and removal sees idle nodes."""
    return size_by_demand(pool)
