"""The caches of this process: pods, nodes, and growth's own objects that say what is planned."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import WatchedResource
from growth.scheduling.objects import Node, Pod, decode_node, decode_pod

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from growth.api.meta import CustomResource as ApiResource
    from growth.kube.cache.contents import Change
    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.cache.questions import ApiServer


@dataclass(frozen=True, kw_only=True)
class Followers:
    """Who is told what has changed, for each kind."""

    pods: Callable[[Sequence[Change[Pod]]], None]
    nodes: Callable[[Sequence[Change[Node]]], None]
    pools: Callable[[Sequence[Change[NodePool]]], None]
    requests: Callable[[Sequence[Change[NodeRequest]]], None]
    removals: Callable[[Sequence[Change[NodeRemovalRequest]]], None]


class ExtenderSources:
    """The caches, and the tasks that keep them."""

    def __init__(
        self, server: ApiServer, followers: Followers, *, metrics: CacheMetrics, chance: Random
    ) -> None:
        make = partial(Reflector[Any], server=server, metrics=metrics, chance=chance)
        watched = (
            (WatchedResource(path="/api/v1/pods", decode=decode_pod), followers.pods),
            (WatchedResource(path="/api/v1/nodes", decode=decode_node), followers.nodes),
            (_own(NodePool), followers.pools),
            (_own(NodeRequest), followers.requests),
            (_own(NodeRemovalRequest), followers.removals),
        )
        self._reflectors: dict[str, Reflector[Any]] = {
            resource.name: make(resource=resource, changed=changed) for resource, changed in watched
        }

    async def run(self) -> None:
        """Keep every cache, until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for name, reflector in self._reflectors.items():
                tasks.create_task(reflector.run(), name=f"watch {name}")

    @property
    def incomplete(self) -> list[str]:
        """The kinds of which no whole list was taken in yet."""
        return [name for name, each in self._reflectors.items() if not each.health.is_complete]

    async def complete(self) -> None:
        """Wait until every cache has been whole once."""
        for reflector in self._reflectors.values():
            await reflector.synced()


def _own(kind: type[ApiResource]) -> WatchedResource[Any]:
    return WatchedResource(path=kind.collection(), decode=kind.model_validate_json)
