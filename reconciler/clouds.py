"""What the loop sees of the clouds: the machines of each node class, listed again and again.

A listing that isn't complete says nothing, and the last one that was stays until the next; how long
nothing complete has come is part of what is seen. While a machine is coming or going the listings
follow each other more closely, since their answer is what everybody waits for.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from growth.errors import GrowthError
from reconciler.providers.port import Sight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.instant import Instant
    from reconciler.providers.port import ClassKey, Listing, Provider
    from reconciler.timing import Timing


@dataclass(kw_only=True)
class Clouds:
    """The sights of all node classes, kept while this process leads."""

    node_classes: Callable[[], Iterable[ClassKey]]
    provider_of: Callable[[ClassKey], Provider | None]
    is_busy: Callable[[], bool]
    """Whether a machine is coming or going."""
    now: Callable[[], Instant]
    changed: Callable[[], None]
    timing: Timing
    sights: dict[ClassKey, Sight] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._noticed = asyncio.Event()

    def notice(self) -> None:
        """Something has changed: if a machine is coming or going, the next look is soon."""
        if self.is_busy():
            self._noticed.set()

    async def run(self) -> None:
        """List, wait, and list again, until it is cancelled."""
        while True:
            known = tuple(self.node_classes())
            for gone in self.sights.keys() - set(known):
                del self.sights[gone]
            for key in known:
                await self._look(key)
            self.changed()
            await self._rest()

    async def _look(self, key: ClassKey) -> None:
        provider = self.provider_of(key)
        if provider is None:
            return
        before = self.sights.get(key, Sight())
        try:
            listing = await provider.list()
        except GrowthError as error:
            self.sights[key] = self._blind(before, str(error))
            return
        self.sights[key] = (
            _clear(before, listing) if listing.is_complete else self._blind(before, listing.reason)
        )

    def _blind(self, before: Sight, problem: str) -> Sight:
        since = before.blind_since
        since = self.now().monotonic if since is None else since
        return msgspec.structs.replace(before, blind_since=since, problem=problem)

    async def _rest(self) -> None:
        await asyncio.sleep(self.timing.attentive_listing)
        self._noticed.clear()
        if self.is_busy():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self.timing.listing - self.timing.attentive_listing):
                await self._noticed.wait()


def _clear(before: Sight, listing: Listing) -> Sight:
    return Sight(listing=listing, before=before.listing)
