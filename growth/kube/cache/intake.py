"""Puts what was read into the cache, and reports the changes to the cache's user.

Nothing here waits, so no reader sees an event without the one before it, or a part of a list. The
exception is the first list: it is put in and reported in slices, as nothing relies on a cache that
has never been complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic

import structlog

from growth.kube.cache.contents import Change, Unreadable, uids_of_deleted
from growth.kube.cache.listing import Slices
from growth.kube.cache.resource import T, WatchedResource
from growth.kube.cache.store import Store
from growth.kube.cache.watch_events import EventKind, WatchEvent
from growth.kube.errors import Unreachable
from growth.kube.versions import is_before

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from growth.kube.cache.health import Vitals
    from growth.kube.cache.listing import CollectedList
    from growth.kube.cache.metrics import KindMetrics

TOGETHER: Final = 100
"""Changes to report before other tasks may get a turn: a few milliseconds of work."""
_log = structlog.get_logger(__name__)


class Behind(Unreachable):
    """The server sends an older version than we have seen: it is behind, or it was restored."""


class Intake(Generic[T]):
    """The only writer of one cache."""

    def __init__(
        self,
        resource: WatchedResource[T],
        *,
        metrics: KindMetrics,
        vitals: Vitals,
        changed: Callable[[Sequence[Change[T]]], None],
        rescheduled: Callable[[], None],
    ) -> None:
        """`rescheduled` is called when a write of ours makes a list due earlier or later."""
        self._name = resource.name
        self._metrics = metrics
        self._vitals = vitals
        self._changed = changed
        self._rescheduled = rescheduled
        self.store = Store(
            resource, own_write_seen=metrics.own_write_seen, own_write_noted=rescheduled
        )

    def apply(self, events: Iterable[WatchEvent[T]]) -> None:
        """Put events into the cache, and report what they change."""
        changes: list[Change[T]] = []
        try:
            for event in events:
                changes.extend(self._change(event))
        finally:
            # Events before a broken line are valid, and the position has already moved past them.
            self._tell(changes)

    async def fill(self, changes: Sequence[Change[T]]) -> None:
        """Put the objects of the first list into the cache, and report them, in slices."""
        slices = Slices()
        for begin in range(0, len(changes), TOGETHER):
            some = changes[begin : begin + TOGETHER]
            for change in some:
                if change.new is not None:
                    self.store.put(change.key, change.new)
            self._tell(some)
            await slices.pause()

    def replace(
        self, listing: CollectedList[T], changes: Sequence[Change[T]], *, listed_from: float | None
    ) -> None:
        """Put a complete list into the place of the known objects, and report the changes."""
        self.store.replace(listing.contents, position=listing.version)
        self._report(tuple(self.store.unreadable.values()))
        self._tell(changes, listed_from=listed_from)

    def _change(self, event: WatchEvent[T]) -> tuple[Change[T], ...]:
        # Versions of a kind only grow. A smaller one comes from a server with an older state.
        if is_before(event.version, self.store.position):
            raise Behind(f"{self._name}: version {event.version} after {self.store.position}")
        self.store.position = event.version or self.store.position
        match event:
            case WatchEvent(kind=EventKind.PUT, object=Unreadable() as unreadable):
                self._report((unreadable,))
                return self.store.put_unreadable(unreadable)
            case WatchEvent(kind=EventKind.PUT, object=obj) if not isinstance(
                obj, Unreadable | None
            ):
                return self.store.put(event.key, obj)
            case WatchEvent(kind=EventKind.DELETED):
                return self.store.drop(event.key)
            case _:
                return ()

    def _tell(self, changes: Sequence[Change[T]], *, listed_from: float | None = None) -> None:
        is_released = self.store.own.review(gone=uids_of_deleted(changes), listed_from=listed_from)
        if changes:
            self._metrics.count(changes)
            self._vitals.changed()
        if is_released or self.store.own.has_overtaken:
            self._rescheduled()
        if changes:
            self._changed(changes)
        if is_released:
            self._changed(())

    def _report(self, unreadable: Sequence[Unreadable]) -> None:
        """Log one line, also if thousands of objects can't be decoded."""
        for first in unreadable[:1]:
            _log.warning(
                "objects can't be decoded",
                resource=self._name,
                count=len(unreadable),
                first="/".join(filter(None, first.key)),
                problem=first.problem,
            )
