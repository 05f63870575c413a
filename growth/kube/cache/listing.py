"""A whole list on its way in: from a watch that begins with all objects, or page by page.

It grows beside the cache and takes its place at the end. The work is cut into slices, since
thousands of objects in one go would stop the event loop, and with it every probe and every answer
to the scheduler.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Generic

import msgspec

from growth.kube.cache.contents import Change, Contents, Unreadable, content_differences
from growth.kube.cache.resource import KubernetesObject, T, WatchedResource, key_of
from growth.kube.cache.watch_events import EventKind, Garbled, WatchEvent, read_object
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Iterable


SLICE = 0.005
"""Seconds of work between two turns of the event loop."""


class Slices:
    """Gives the event loop a turn whenever a slice of work is full."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    async def pause(self) -> None:
        """To be called often; mostly it does nothing."""
        if time.perf_counter() - self._began > SLICE:
            await asyncio.sleep(0)
            self._began = time.perf_counter()


class ListPage(msgspec.Struct, frozen=True, gc=False):
    """One answer to a LIST, its objects left as bytes."""

    metadata: PageMetadata
    items: list[msgspec.Raw] | None = None


class PageMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Where a page belongs."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


_page = msgspec.json.Decoder(ListPage).decode


class CollectedList(Generic[T]):
    """A list being collected, and what is known so far to compare it with."""

    def __init__(self, known: Contents[T], *, resource: WatchedResource[T]) -> None:
        self._known = known
        self._resource = resource
        self._slices = Slices()
        self.contents = Contents(resource.indexes)
        self.version = ""
        """Set when the list is whole."""

    async def take_page(self, body: bytes) -> str:
        """Takes in one page; the answer is the token of the next, empty after the last."""
        try:
            page = _page(body)
        except UNDECODABLE:
            raise Garbled(f"list {self._resource.name}: the answer is no list") from None
        for raw in page.items or ():
            self._put(read_object(bytes(raw), resource=self._resource))
            await self._slices.pause()
        if not page.metadata.continue_:
            self.version = page.metadata.resource_version
        return page.metadata.continue_

    async def take_events(self, events: Iterable[WatchEvent[T]]) -> None:
        """Takes in events until the end mark; what comes after it is left in the iterator."""
        for event in events:
            match event.kind:
                case EventKind.INITIAL_EVENTS_END:
                    self.version = event.version
                    return
                case EventKind.PUT if event.object is not None:
                    self._put(event.object)
                case EventKind.DELETED:
                    self.contents.drop(event.key)
                case _:
                    pass
            await self._slices.pause()

    async def changes(self) -> list[Change[T]]:
        """What is different from what was known."""
        found: list[Change[T]] = []
        for some in content_differences(self._known, self.contents):
            found.extend(some)
            await self._slices.pause()
        return found

    def _put(self, obj: T | Unreadable) -> None:
        if isinstance(obj, Unreadable):
            self.contents.put_unreadable(obj)
            return
        key = key_of(obj)
        known = self._known.objects.get(key)
        # An unchanged object is kept as it is, with all that was worked out about it.
        self.contents.put(key, known if known is not None and _is_equal(known, obj) else obj)


def _is_equal(one: KubernetesObject, other: KubernetesObject) -> bool:
    return bool(
        one.metadata.uid == other.metadata.uid
        and one.metadata.resource_version == other.metadata.resource_version
    )
