"""All pools as admission needs them, worked out when a pool changes and not when a pod comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.api.nodepool import Placement
from growth.scheduling.taints import Taint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.nodepool import NodePool


class Pool(msgspec.Struct, frozen=True):
    """One pool: how it draws pods, and what they have to tolerate there."""

    name: str
    placement: Placement = Placement.PREFER
    taints: tuple[Taint, ...] = ()
    is_being_deleted: bool = False


class AdmissionPools(msgspec.Struct, frozen=True):
    """The pools of one moment."""

    by_name: dict[str, Pool] = {}
    unreadable: frozenset[str] = frozenset()
    """Pools that exist, but in a form that this version can't read."""

    def __contains__(self, name: str) -> bool:
        return name in self.by_name or name in self.unreadable


def admission_pool(node_pool: NodePool) -> Pool:
    """What admission needs of a pool."""
    return Pool(
        name=node_pool.name,
        placement=node_pool.spec.placement,
        taints=tuple(
            Taint(key=taint.key, effect=taint.effect.value, value=taint.value)
            for taint in node_pool.spec.taints
        ),
        is_being_deleted=node_pool.metadata.deletion_timestamp is not None,
    )


def pools_of_moment(
    node_pools: Iterable[NodePool], *, unreadable: Iterable[str] = ()
) -> AdmissionPools:
    """All of them, by name."""
    pools = {node_pool.name: admission_pool(node_pool) for node_pool in node_pools}
    return AdmissionPools(by_name=dict(sorted(pools.items())), unreadable=frozenset(unreadable))
