"""What a real cluster shows of each story: watches, sorted by the story that an object is of."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
from prometheus_client import CollectorRegistry

from growth.api.noderequest import NodeRequest
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import Key, WatchedResource
from growth.kube.cache.timing import CacheTiming
from growth.scheduling import objects as kinds
from tests.stories.ending import Seen
from tests.stories.objects import STORY_LABEL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from growth.kube.cache.contents import Change
    from growth.kube.transport import Connection
    from tests.stories.story import Story

WATCHED: dict[str, WatchedResource[Any]] = {
    "nodes": WatchedResource(path="/api/v1/nodes", decode=kinds.decode_node),
    "pods": WatchedResource(path="/api/v1/pods", decode=kinds.decode_pod),
    "requests": WatchedResource(
        path="/apis/growth.dev/v1alpha1/noderequests", decode=NodeRequest.model_validate_json
    ),
}


class Corner(msgspec.Struct):
    """The objects of one story, and whoever waits for one of them to change."""

    objects: dict[str, dict[Key, Any]]
    changed: asyncio.Event

    @property
    def seen(self) -> Seen:
        found = {kind: tuple(objects.values()) for kind, objects in self.objects.items()}
        return Seen(**found)


class View:
    """Everything in the cluster that stories are about, as watches show it."""

    def __init__(self, connection: Connection, stories: Iterable[Story]) -> None:
        self.corners = {
            story.name: Corner({kind: {} for kind in WATCHED}, asyncio.Event()) for story in stories
        }
        self._pools = {pool: story.name for story in stories for pool in story.pool_names}
        metrics = CacheMetrics(CollectorRegistry())
        self._reflectors: list[Reflector[Any]] = [
            Reflector(
                server=connection,
                resource=resource,
                metrics=metrics,
                chance=Random(1),
                changed=partial(self._take, kind),
                timing=CacheTiming(),
            )
            for kind, resource in WATCHED.items()
        ]

    def _take(self, kind: str, changes: Iterable[Change[Any]]) -> None:
        for change in changes:
            corner = self.corners.get(self._story_of(change))
            if corner is None:
                continue
            if change.new is None:
                del corner.objects[kind][change.key]
            else:
                corner.objects[kind][change.key] = change.new
            corner.changed.set()

    def _story_of(self, change: Change[Any]) -> str:
        found = change.old if change.new is None else change.new
        match found:
            case NodeRequest():
                return self._pools.get(found.spec.pool, "")
            case kinds.Pod():
                return found.metadata.namespace
            case kinds.Node():
                return found.labels.get(STORY_LABEL, "")
            case _:
                return ""

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Followed until the end of the block."""
        tasks = [asyncio.create_task(each.run()) for each in self._reflectors]
        try:
            for each in self._reflectors:
                await each.synced()
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
