"""The input of the answers: everything that decides whether a node is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from growth.api.nodepool import NodePool, PaidHour
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.keeping.size import PoolSize, size_by_demand
from growth.keeping.wanting import KnownPause
from growth.scheduling.cluster import Cluster

BIND_WAIT: Final = 15.0
"""Seconds that the pods of a new node have to arrive, once it serves."""


class KeepingScene(msgspec.Struct, frozen=True, kw_only=True):
    """The objects and settings that the answers depend on."""

    cluster: Cluster
    pools: Mapping[str, NodePool]
    requests: Mapping[str, NodeRequest] = {}
    removals: Mapping[str, NodeRemovalRequest] = {}
    promises: frozenset[str] = frozenset()
    """The nodes on which pods are promised a place."""
    in_place_of: Mapping[str, str] = {}
    """For each new node of a swap, a node that is removed when the new one serves."""
    pauses: Mapping[str, KnownPause] = {}
    paid_hours: Mapping[str, PaidHour] = {}
    """Whether idle nodes stay until their paid hour ends, by pool."""
    sizes: Mapping[str, PoolSize] = {}
    """What the scaling policies of pools want, by pool."""
    bind_wait: float = BIND_WAIT

    def size_of(self, pool: NodePool) -> PoolSize:
        """What the scaling policy of a pool wants."""
        return self.sizes.get(pool.name) or size_by_demand(pool)
