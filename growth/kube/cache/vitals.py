"""The signs of life of one cache, kept as they come and shown as `CacheHealth` when somebody asks.

They are noted with every piece that the network brings, thousands of times during a list, so noting
one is an assignment and nothing more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from growth.kube.cache.health import CacheHealth

if TYPE_CHECKING:
    from growth.errors import GrowthError
    from growth.kube.cache.suspicion import Suspicion


class Vitals:
    """What `CacheHealth` is made of. Times are those of the event loop."""

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._blind_since: float | None = self._clock()
        self.last_heard: float | None = None
        self.last_event: float | None = None
        self.listed_at: float | None = None
        self.lists = 0
        self.suspicion: Suspicion | None = None
        self.problem = ""

    def heard(self) -> None:
        """Bytes have come."""
        self.last_heard = self._clock()

    def changed(self) -> None:
        """Objects have changed."""
        self.last_event = self._clock()

    def connected(self) -> None:
        """From now on everything that happens is heard of."""
        self._blind_since = None
        self.problem = ""

    def listed(self) -> None:
        """A whole list was taken in."""
        self.connected()
        self.listed_at = self._clock()
        self.lists += 1

    def disconnected(self, error: GrowthError | None = None) -> None:
        """Nothing is known since the last bytes, however much later that was noticed."""
        if self._blind_since is None:
            self._blind_since = self.last_heard if self.last_heard is not None else self._clock()
        if error is not None:
            self.problem = str(error)

    def silence(self) -> float:
        """Seconds since the last bytes; infinite before the first."""
        return float("inf") if self.last_heard is None else self._clock() - self.last_heard

    def health(self, *, unreadable: int) -> CacheHealth:
        """How far the cache can be trusted now."""
        return CacheHealth(
            is_complete=self.lists > 0,
            blind_since=self._blind_since,
            last_heard=self.last_heard,
            last_event=self.last_event,
            listed_at=self.listed_at,
            lists=self.lists,
            suspicion=self.suspicion,
            unreadable=unreadable,
            problem=self.problem,
        )
