"""Reads a complete list: from a watch that begins with all objects, or page by page.

The list grows beside the cache and replaces it at the end. The work is done in slices, because
thousands of objects at once would block the event loop, and with it all probes and all answers to
the scheduler.
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
"""Seconds of work before other tasks of the event loop get a turn."""


class Slices:
    """Gives other tasks of the event loop a turn after each slice of work."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    async def pause(self) -> None:
        """Call this often; it only yields when the slice is used up."""
        if time.perf_counter() - self._began > SLICE:
            await asyncio.sleep(0)
            self._began = time.perf_counter()


class ListPage(msgspec.Struct, frozen=True, gc=False):
    """One page of a list, with its objects as bytes."""

    metadata: PageMetadata
    items: list[msgspec.Raw] | None = None


class PageMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The version of a page, and the token of the next one."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


_page = msgspec.json.Decoder(ListPage).decode


class CollectedList(Generic[T]):
    """A list that is being read, and the known objects to compare it with."""

    def __init__(self, known: Contents[T], *, resource: WatchedResource[T]) -> None:
        self._known = known
        self._resource = resource
        self._slices = Slices()
        self.contents = Contents(resource.indexes)
        self.version = ""
        """Set when the list is complete."""

    async def take_page(self, body: bytes) -> str:
        """Add a page; returns the token of the next one, "" after the last."""
        try:
            page = _page(body)
        except UNDECODABLE:
            raise Garbled(f"list {self._resource.name}: the answer isn't a list") from None
        for raw in page.items or ():
            self._put(read_object(bytes(raw), resource=self._resource))
            await self._slices.pause()
        if not page.metadata.continue_:
            self.version = page.metadata.resource_version
        return page.metadata.continue_

    async def take_events(self, events: Iterable[WatchEvent[T]]) -> None:
        """Add events until the end mark; later events stay in the iterator."""
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
        """The changes from the known objects to this list."""
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
        # The known object is kept if it is unchanged, because it has cached values.
        self.contents.put(key, known if known is not None and _is_equal(known, obj) else obj)


def _is_equal(one: KubernetesObject, other: KubernetesObject) -> bool:
    return bool(
        one.metadata.uid == other.metadata.uid
        and one.metadata.resource_version == other.metadata.resource_version
    )
