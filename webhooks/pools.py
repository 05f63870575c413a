"""The pools as admission needs them, computed when a pool changes and not for each pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.api.nodepool import Placement, PoolMode
from growth.scheduling.taints import Taint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.nodepool import NodePool


class Pool(msgspec.Struct, frozen=True):
    """A pool: its placement, and the taints that its pods must tolerate."""

    name: str
    placement: Placement = Placement.PREFER
    taints: tuple[Taint, ...] = ()
    is_being_deleted: bool = False


class AdmissionPools(msgspec.Struct, frozen=True):
    """All pools at one moment."""

    by_name: dict[str, Pool] = {}
    unreadable: frozenset[str] = frozenset()
    """Pools that exist, but that this version can't read."""

    def __contains__(self, name: str) -> bool:
        return name in self.by_name or name in self.unreadable


def admission_pool(node_pool: NodePool) -> Pool:
    """The fields of a pool that admission needs."""
    if node_pool.spec.mode is PoolMode.OBSERVE:
        # Another autoscaler reads the pod, too: it gets the pod as its owner has written it.
        return Pool(name=node_pool.name, placement=Placement.ALLOW)
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
    """All pools by name."""
    pools = {node_pool.name: admission_pool(node_pool) for node_pool in node_pools}
    return AdmissionPools(by_name=dict(sorted(pools.items())), unreadable=frozenset(unreadable))
