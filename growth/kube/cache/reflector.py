"""Keeps a cache equal to what the API server holds, for as long as the process lives.

A list comes as a watch that begins with all objects and tells with a marked bookmark where they
end; a server that doesn't offer that is read page by page. Events follow. Whatever breaks, one of
two things happens: the watch goes on from the version that was reached, and nothing was lost; or,
where that can't be known, a new list takes the cache's place and the difference is told as changes,
missed deletions among them.

Time never goes back unnoticed. A new list is asked for at the version that was reached or newer, so
a server that is behind refuses. One that refuses again and again was restored from a backup: then
the newest state is read anyway, and the cache says of itself that it is suspicious until a second
list, some time later, agrees.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import structlog

from growth.errors import GrowthError, RetryLater
from growth.kube.backoff import Backoff
from growth.kube.cache.contents import Change, Unreadable, uids_of_deleted
from growth.kube.cache.garbage import keep_for_good, no_collections
from growth.kube.cache.listing import CollectedList
from growth.kube.cache.questions import Questions
from growth.kube.cache.relisting import ListCause, Occasions
from growth.kube.cache.resource import T, WatchedResource
from growth.kube.cache.store import Store
from growth.kube.cache.suspicion import suspicion_of
from growth.kube.cache.timing import CacheTiming
from growth.kube.cache.vitals import Vitals
from growth.kube.cache.watch_events import EventKind, EventStream, Garbled, WatchEvent
from growth.kube.errors import Expired, Overloaded, Refused, Unreachable
from growth.kube.versions import is_before

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from random import Random

    from growth.kube.cache.health import CacheHealth
    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.cache.server import ApiServer

S = TypeVar("S")

_log = structlog.get_logger(__name__)


class Behind(Unreachable):
    """The server tells of a state older than one that was seen: it lags, or it was restored."""


class Reflector(Generic[T]):
    """One kind's cache and the task that keeps it."""

    def __init__(
        self,
        *,
        server: ApiServer,
        resource: WatchedResource[T],
        metrics: CacheMetrics,
        chance: Random,
        changed: Callable[[Sequence[Change[T]]], None] = lambda _: None,
        timing: CacheTiming | None = None,
    ) -> None:
        """`changed` is called with each batch, and with none when a write of ours was seen."""
        self._timing = timing or CacheTiming()
        self._resource = resource
        self._metrics = metrics.of(resource.name)
        self.store = Store(
            resource,
            own_write_seen=self._metrics.own_write_seen,
            own_write_noted=self._measure_leash,
        )
        self._questions = Questions(server, resource=resource, timing=self._timing, chance=chance)
        self._changed = changed
        self._backoff = Backoff(chance=chance, longest=self._timing.longest_wait)
        self._vitals = Vitals()
        self._metrics.show(self.store, silence=self._vitals.silence)
        self._synced = asyncio.Event()
        self._occasions = Occasions(timing=self._timing, chance=chance, own=self.store.own)
        self._leash: asyncio.Timeout | None = None
        self._streams_lists = True
        self._refusals = 0
        self._pages_expired = False

    @property
    def health(self) -> CacheHealth:
        """How far the cache can be trusted now."""
        return self._vitals.health(unreadable=len(self.store.unreadable))

    async def synced(self) -> None:
        """Waits until the cache has been whole for the first time."""
        await self._synced.wait()

    def relist(self) -> None:
        """Asks for a list of the newest state: a second opinion, or the end of a long wait."""
        self._occasions.needed = ListCause.ASKED
        self._measure_leash()

    async def run(self) -> NoReturn:
        """Works until it is cancelled."""
        while True:
            began = _now()
            error: GrowthError | None = None
            try:
                await self._live()
            except GrowthError as caught:
                error = caught
                self._lost(caught)
            self._vitals.disconnected(error)
            await asyncio.sleep(self._wait(error, lived=_now() - began))

    async def _live(self) -> None:
        """One connection, from its list or the version reached until it ends."""
        if self._occasions.needed is None:
            await self._noting_refusals(self._questions.whether_it_has_reached(self.store.position))
            await self._resume()
        else:
            await self._begin()

    async def _begin(self) -> None:
        """A whole list, and the events after it."""
        if self._streams_lists:
            try:
                await self._begin_with_stream()
            except Refused as error:
                self._streams_lists = False
                _log.info("the API server lists by pages", resource=self._name, reason=str(error))
            else:
                return
        await self._read_pages()
        await self._resume()

    async def _begin_with_stream(self) -> None:
        since = self._not_older_than()
        newest_at = None if since else _now()
        async with self._questions.all_and_then(not_older_than=since) as response:
            events = EventStream(response, resource=self._resource)
            self._apply(await self._take_list(events, newest_at=newest_at))
            await self._follow(events)

    def _not_older_than(self) -> str:
        """The version that a list has to reach; empty for the newest, which is asked of the store.

        That costs the store a read, and a second opinion is worth it. A server that stays behind is
        asked for it too: either it can't answer, or what we have seen is no longer true.
        """
        is_behind = self._refusals >= self._timing.refusals
        return "" if is_behind or self._occasions.is_opinion_wanted else self.store.position

    async def _take_list(
        self, events: EventStream[T], *, newest_at: float | None
    ) -> Iterable[WatchEvent[T]]:
        # In a frame of its own: the list that was replaced must not live as long as the watch.
        listing = CollectedList(self.store.contents, resource=self._resource)
        with no_collections():
            rest = await self._noting_refusals(self._complete(listing, events))
            await self._adopt(listing, newest_at=newest_at)
        return rest

    async def _complete(
        self, listing: CollectedList[T], events: EventStream[T]
    ) -> Iterable[WatchEvent[T]]:
        """Reads until the end mark; the answer is what follows it in the same piece."""
        limit = asyncio.timeout(self._timing.list_limit)
        try:
            async with limit:
                while (batch := await events.next()) is not None:
                    self._vitals.heard()
                    await listing.take_events(batch)
                    if listing.version:
                        return batch
                    # Few large pieces cost far less than the thousand small ones of a slow server.
                    await asyncio.sleep(self._timing.gathering)
        except TimeoutError:
            if not limit.expired():
                raise
            self._streams_lists = False
            raise Unreachable(f"{self._name}: the list did not end in time") from None
        raise Unreachable(f"{self._name}: the list ended without its end mark")

    async def _noting_refusals(self, work: Awaitable[S]) -> S:
        """Counts how often a server says that it hasn't reached what we have seen."""
        try:
            return await work
        except Overloaded as error:
            if "Too large resource version" in error.message:
                self._refusals += 1
                self._occasions.need(ListCause.LOST)
            raise

    async def _read_pages(self) -> None:
        newest_at = _now()
        listing = CollectedList(self.store.contents, resource=self._resource)
        # A list that took longer than the server remembers is asked for in one piece next time.
        size = None if self._pages_expired else self._timing.page_size
        self._pages_expired = True
        token = ""
        with no_collections():
            while not listing.version:
                page = await self._questions.page(token, size=size)
                self._vitals.heard()
                token = await listing.take_page(page)
            await self._adopt(listing, newest_at=newest_at)

    async def _adopt(self, listing: CollectedList[T], *, newest_at: float | None) -> None:
        """Puts a whole list in the place of what was known. Nothing waits after the difference."""
        changes = await listing.changes()
        self._judge(listing)
        self.store.replace(listing.contents, position=listing.version)
        self._metrics.listed((self._occasions.needed or ListCause.START).value)
        self._occasions.listed()
        self._refusals = 0
        self._pages_expired = False
        self._vitals.listed()
        self._report(tuple(self.store.unreadable.values()))
        self._tell(changes, listed_from=newest_at)
        if not self._synced.is_set():
            keep_for_good()
            self._synced.set()

    def _judge(self, listing: CollectedList[T]) -> None:
        found = suspicion_of(
            known=len(self.store),
            found=len(listing.contents.objects),
            is_older=is_before(listing.version, self.store.position),
        )
        if found is not None:
            self._occasions.doubted()
            self._vitals.suspicion = found
            _log.warning("a list is suspicious", resource=self._name, reason=found.value)
        elif self._occasions.needed is ListCause.CONFIRMATION:
            self._occasions.confirmed()
            self._vitals.suspicion = None

    async def _resume(self) -> None:
        async with self._questions.from_version(self.store.position) as response:
            self._vitals.connected()
            await self._follow(EventStream(response, resource=self._resource))

    async def _follow(self, events: EventStream[T]) -> None:
        """Applies events until the stream ends, or until another list is wanted."""
        self._leash = asyncio.timeout_at(self._occasions.due)
        try:
            async with self._leash:
                while (batch := await events.next()) is not None:
                    self._vitals.heard()
                    self._apply(batch)
        except TimeoutError:
            if not self._leash.expired():
                raise
            self._occasions.come()
        finally:
            self._leash = None

    def _measure_leash(self) -> None:
        """Anew, when a list has become due earlier or later than was known when it was made."""
        if self._leash is not None and not self._leash.expired():
            self._leash.reschedule(self._occasions.due)

    def _apply(self, events: Iterable[WatchEvent[T]]) -> None:
        changes: list[Change[T]] = []
        try:
            for event in events:
                changes.extend(self._change(event))
        finally:
            # What came before a broken line is true, and the position has moved past it.
            self._tell(changes)

    def _change(self, event: WatchEvent[T]) -> tuple[Change[T], ...]:
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
            self._metrics.told(changes)
            self._vitals.changed()
        if is_released or self.store.own.has_overtaken:
            self._measure_leash()
        if changes or is_released:
            self._changed(changes)

    def _report(self, unreadable: Sequence[Unreadable]) -> None:
        """One line, be it for one object or for thousands of a kind whose form has changed."""
        for first in unreadable[:1]:
            _log.warning(
                "objects cannot be read",
                resource=self._name,
                count=len(unreadable),
                first="/".join(filter(None, first.key)),
                problem=first.problem,
            )

    def _lost(self, error: GrowthError) -> None:
        """What is to be done about a failure: go on from the same version, or list anew."""
        self._metrics.failed(error)
        match error:
            case Expired():
                self._occasions.need(ListCause.EXPIRED)
            case Garbled() | Behind():
                self._occasions.need(ListCause.LOST)
            case _:
                pass
        # The first failure is worth a line, those that follow while it lasts are not.
        tell = _log.debug if self._vitals.problem else _log.warning
        tell("the watch is lost", resource=self._name, error=str(error))

    def _wait(self, error: GrowthError | None, *, lived: float) -> float:
        if lived >= self._timing.steady:
            self._backoff.succeed()
        if error is None and (self._occasions.needed is not None or lived >= self._timing.steady):
            return 0.0
        asked = error.after if isinstance(error, RetryLater) else None
        return self._backoff.after_failure(asked=asked)

    @property
    def _name(self) -> str:
        return self._resource.name


def _now() -> float:
    return asyncio.get_running_loop().time()
