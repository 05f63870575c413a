"""A cache of the NodePools, for each review."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING

import msgspec

from growth.api.nodepool import NodePool
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import WatchedResource
from webhooks.pools import AdmissionPools, pools_of_moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from growth.kube.cache.contents import Change
    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.cache.questions import ApiServer

NODE_POOLS = WatchedResource(path=NodePool.collection(), decode=NodePool.model_validate_json)


class PoolCache:
    """The current pools."""

    def __init__(self) -> None:
        self._reflector: Reflector[NodePool] | None = None
        self._pools: AdmissionPools | None = None

    def now(self) -> AdmissionPools | None:
        """The current pools; None until all of them have been read once."""
        if self._pools is None or self._reflector is None:
            return None
        unreadable = self._reflector.store.unreadable
        if not unreadable:
            return self._pools
        # A new pool that can't be decoded isn't in the cache, so it isn't reported as a change.
        names = frozenset(key.name for key in unreadable)
        return msgspec.structs.replace(self._pools, unreadable=names)

    async def follow(self, server: ApiServer, *, metrics: CacheMetrics) -> None:
        """Keep the pools current until cancelled."""
        self._reflector = Reflector(
            server=server,
            resource=NODE_POOLS,
            metrics=metrics,
            chance=Random(),  # noqa: S311 - it spreads calls and protects nothing
            changed=self._changed,
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._reflector.run(), name="watch nodepools")
            await self._reflector.synced()
            # In a cluster without pools, no change is ever reported.
            self._changed()

    def _changed(self, _changes: Sequence[Change[NodePool]] = ()) -> None:
        assert self._reflector is not None  # noqa: S101 - it is what calls
        self._pools = pools_of_moment(self._reflector.store.objects.values())
