"""Lists the machines of each node class again and again.

An incomplete listing isn't used; the last complete one stays, and the sight says for how long there
has been no new one. While a machine is coming or going, listings are more frequent, because the
loop waits for them. But they are spaced by the API calls that they take, or else a burst of
machines would use up a rate limit that other programs share.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec
import structlog

from growth.errors import GrowthError
from reconciler.providers.port import Sight
from reconciler.seeing.each_class import EachClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.instant import Instant
    from reconciler.core.timing import Timing
    from reconciler.providers.port import ClassKey, Listing, Provider

LISTING_LIMIT: Final = 60.0
"""Seconds to wait for a listing."""
SECONDS_A_CALL: Final = 2.0
"""Seconds between two frequent listings, for each API call of the first one. That is half of
Hetzner's rate limit; the other half is for purchases, deletions and other programs."""

_log = structlog.get_logger(__name__)


@dataclass(kw_only=True)
class Clouds:
    """The sights of all node classes, kept current while this process leads."""

    node_classes: Callable[[], Iterable[ClassKey]]
    provider_of: Callable[[ClassKey], Provider | None]
    is_busy: Callable[[], bool]
    """Whether a machine is coming or going."""
    now: Callable[[], Instant]
    changed: Callable[[], None]
    timing: Timing
    sights: dict[ClassKey, Sight] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._alarms: dict[ClassKey, asyncio.Event] = {}
        self._each = EachClass(node_classes=self.node_classes, work=self._watch)

    def notice(self) -> None:
        """List soon if a machine is coming or going."""
        self._each.notice()
        if self.is_busy():
            for alarm in self._alarms.values():
                alarm.set()

    async def run(self) -> None:
        """List again and again until cancelled."""
        await self._each.run()

    async def _watch(self, key: ClassKey) -> None:
        alarm = self._alarms[key] = asyncio.Event()
        try:
            while True:
                calls = await self._look(key)
                self.changed()
                await self._rest(alarm, calls=calls)
        finally:
            self._alarms.pop(key)
            self.sights.pop(key, None)

    async def _look(self, key: ClassKey) -> int:
        """List the machines of a class; returns the number of API calls."""
        provider = self.provider_of(key)
        if provider is None:
            return 0
        before = self.sights.get(key, Sight())
        try:
            async with asyncio.timeout(LISTING_LIMIT):
                listing = await provider.list()
        except TimeoutError:
            self.sights[key] = self._blind(before, f"no answer within {LISTING_LIMIT:.0f} s")
            return 0
        except GrowthError as error:
            self.sights[key] = self._blind(before, str(error))
            return 0
        except Exception as error:  # noqa: BLE001 - the loop guards its next round
            # What one cloud says must not end the tasks of the others.
            _log.exception("a listing can't be read", kind=key.kind, node_class=key.name)
            self.sights[key] = self._blind(before, f"its listing fails: {type(error).__name__}")
            return 0
        self.sights[key] = (
            _clear(before, listing) if listing.is_complete else self._blind(before, listing.reason)
        )
        return listing.calls

    def _blind(self, before: Sight, problem: str) -> Sight:
        since = before.blind_since
        since = self.now().monotonic if since is None else since
        return msgspec.structs.replace(before, blind_since=since, problem=problem)

    async def _rest(self, alarm: asyncio.Event, *, calls: int) -> None:
        longest = self.timing.listing
        shortest = min(longest, max(self.timing.attentive_listing, calls * SECONDS_A_CALL))
        await asyncio.sleep(shortest)
        alarm.clear()
        if self.is_busy():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(longest - shortest):
                await alarm.wait()


def _clear(before: Sight, listing: Listing) -> Sight:
    # It takes two listings to conclude that a machine is gone, so the one before stays.
    return Sight(listing=listing, before=before.listing)
