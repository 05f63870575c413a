"""Keeps a cache equal to the API server's objects, for as long as the process runs.

A list is a watch that begins with all objects and marks their end with a bookmark; a server without
streaming lists is read page by page. Then the events follow. After any failure there are two cases.
Either the watch continues from the last version, and nothing is lost. Or, if that isn't certain, a
new list replaces the cache, and the differences are reported as changes, including deletions that
were missed.

The cache doesn't go back in time without noticing. A new list is requested at the last version or
newer, so a server that is behind refuses it. A server that refuses repeatedly was probably restored
from a backup. Then the newest state is read anyway, and the cache is suspicious until a second list
some time later agrees.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import structlog

from growth.errors import GrowthError, RetryLater
from growth.kube.backoff import Backoff
from growth.kube.cache.garbage import keep_for_good, no_collections
from growth.kube.cache.health import Vitals, suspicion_of
from growth.kube.cache.intake import Behind, Intake
from growth.kube.cache.listing import CollectedList
from growth.kube.cache.questions import Questions
from growth.kube.cache.relisting import ListCause, Occasions
from growth.kube.cache.resource import T, WatchedResource
from growth.kube.cache.timing import CacheTiming
from growth.kube.cache.watch_events import EventStream, Garbled, WatchEvent
from growth.kube.errors import Expired, Overloaded, Refused, Unreachable
from growth.kube.versions import is_before

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from random import Random

    from growth.kube.cache.contents import Change
    from growth.kube.cache.health import CacheHealth
    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.cache.questions import ApiServer

S = TypeVar("S")

_log = structlog.get_logger(__name__)


class Reflector(Generic[T]):
    """The cache of one kind, and the task that keeps it up to date."""

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
        """`changed` is called with each batch of changes, and without any if a write was seen."""
        self._timing = timing or CacheTiming()
        self._resource = resource
        self._metrics = metrics.of(resource.name)
        self._vitals = Vitals(_now)
        self._intake = Intake(
            resource,
            metrics=self._metrics,
            vitals=self._vitals,
            changed=changed,
            rescheduled=self._measure_leash,
        )
        self.store = self._intake.store
        self._questions = Questions(server, resource=resource, timing=self._timing, chance=chance)
        self._backoff = Backoff(chance=chance, longest=self._timing.longest_wait)
        self._metrics.show(self.store, silence=self._vitals.silence)
        self._synced = asyncio.Event()
        self._occasions = Occasions(timing=self._timing, chance=chance, own=self.store.own)
        self._leash: asyncio.Timeout | None = None
        self._streams_lists = True
        self._refusals = 0
        self._pages_expired = False

    @property
    def health(self) -> CacheHealth:
        """The state of the cache."""
        return self._vitals.health(unreadable=len(self.store.unreadable))

    async def synced(self) -> None:
        """Wait until the cache is complete for the first time."""
        await self._synced.wait()

    def relist(self) -> None:
        """Request a list of the newest state, as a second opinion or to end a long wait."""
        self._occasions.needed = ListCause.ASKED
        self._measure_leash()

    async def run(self) -> NoReturn:
        """Run until cancelled."""
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
        """One connection, from a list or the last version until it ends."""
        # A watch alone can't tell that its server is behind (see `whether_it_has_reached`). After a
        # fail-over to such a server the cache would be silent, and look current.
        if self._occasions.needed is None:
            await self._noting_refusals(self._questions.whether_it_has_reached(self.store.position))
            await self._resume()
        else:
            await self._begin()

    async def _begin(self) -> None:
        """A complete list, and the events after it."""
        if self._streams_lists:
            try:
                await self._begin_with_stream()
            except Refused as error:
                # A server without streaming lists. It stays that way for this process.
                self._streams_lists = False
                _log.info("lists are read in pages", resource=self._name, reason=str(error))
            else:
                return
        await self._read_pages()
        await self._resume()

    async def _begin_with_stream(self) -> None:
        since = self._not_older_than()
        # Only a list of the newest state includes all our confirmed writes (see `review`).
        newest_at = None if since else _now()
        async with self._questions.all_and_then(not_older_than=since) as response:
            events = EventStream(response, resource=self._resource)
            self._intake.apply(await self._take_list(events, newest_at=newest_at))
            await self._follow(events)

    def _not_older_than(self) -> str:
        """The version that a list must reach; "" for the newest, which is read from etcd."""
        # A read from etcd is expensive, but a second opinion needs it. So does a server that is
        # behind for too long: either it can't answer, or what we have seen is no longer true.
        is_behind = self._refusals >= self._timing.refusals
        return "" if is_behind or self._occasions.is_opinion_wanted else self.store.position

    async def _take_list(
        self, events: EventStream[T], *, newest_at: float | None
    ) -> Iterable[WatchEvent[T]]:
        # A separate function, so that the old objects aren't kept alive while the watch lasts.
        listing = CollectedList(self.store.contents, resource=self._resource)
        with no_collections():
            rest = await self._noting_refusals(self._complete(listing, events))
            await self._adopt(listing, newest_at=newest_at)
        return rest

    async def _complete(
        self, listing: CollectedList[T], events: EventStream[T]
    ) -> Iterable[WatchEvent[T]]:
        """Read until the end mark; returns the events after it in the same piece."""
        limit = asyncio.timeout(self._timing.list_limit)
        try:
            async with limit:
                while (batch := await events.next()) is not None:
                    self._vitals.heard()
                    await listing.take_events(batch)
                    if listing.version:
                        return batch
                    # A few large pieces are much cheaper than a thousand small ones.
                    await asyncio.sleep(self._timing.gathering)
        except TimeoutError:
            if not limit.expired():
                raise
            # Pages have shorter answers, so they may work where a stream doesn't.
            self._streams_lists = False
            raise Unreachable(f"{self._name}: the list did not end in time") from None
        raise Unreachable(f"{self._name}: the list ended without its end mark")

    async def _noting_refusals(self, work: Awaitable[S]) -> S:
        """Count how often a server is behind the last version."""
        # The API server has no code of its own for this; the text is the only sign.
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
        # If the pages take longer than the server keeps old versions, the next try reads all
        # objects at once. `_adopt` resets this after a complete list.
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
        """Replace the known objects by a complete list."""
        changes = await listing.changes()
        if not self._synced.is_set():
            await self._intake.fill(changes)
            changes = []
        # No `await` after this line: readers must see either the old objects or the new ones, with
        # all changes reported.
        self._judge(listing)
        self._metrics.listed((self._occasions.needed or ListCause.START).value)
        self._occasions.listed()
        self._refusals = 0
        self._pages_expired = False
        self._vitals.listed()
        self._intake.replace(listing, changes, listed_from=newest_at)
        if not self._synced.is_set():
            keep_for_good()
            self._synced.set()

    def _judge(self, listing: CollectedList[T]) -> None:
        # A suspicious list is used anyway, as it may be true; the brakes stop removals until a
        # later list agrees with this one.
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
        # The position is that of the last event that was applied, so no event is lost or repeated.
        # A version that the server no longer keeps is `Expired`, and leads to a new list.
        async with self._questions.from_version(self.store.position) as response:
            self._vitals.connected()
            await self._follow(EventStream(response, resource=self._resource))

    async def _follow(self, events: EventStream[T]) -> None:
        """Apply events until the stream ends or a list is due."""
        self._leash = asyncio.timeout_at(self._occasions.due)
        try:
            async with self._leash:
                while (batch := await events.next()) is not None:
                    self._vitals.heard()
                    self._intake.apply(batch)
        except TimeoutError:
            # Other timeouts are failures of the connection.
            if not self._leash.expired():
                raise
            self._occasions.come()
        finally:
            self._leash = None

    def _measure_leash(self) -> None:
        """Adjust the end of the current watch when the next list is due earlier or later."""
        if self._leash is not None and not self._leash.expired():
            self._leash.reschedule(self._occasions.due)

    def _lost(self, error: GrowthError) -> None:
        """Decide after a failure: continue from the last version, or read a new list."""
        self._metrics.failed(error)
        match error:
            case Expired():
                self._occasions.need(ListCause.EXPIRED)
            case Garbled() | Behind():
                self._occasions.need(ListCause.LOST)
            case _:
                pass
        # Only the first failure is a warning; the ones that follow while it lasts aren't.
        tell = _log.debug if self._vitals.problem else _log.warning
        tell("lost the watch", resource=self._name, error=str(error))

    def _wait(self, error: GrowthError | None, *, lived: float) -> float:
        # A watch that ends normally is continued at once. A server that ends each watch immediately
        # gets a back-off, though it reports no error.
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
