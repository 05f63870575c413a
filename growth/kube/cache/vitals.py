"""Records when a cache was last connected and changed, and reports it as `CacheHealth`.

The times are recorded with each piece of data, thousands of times during a list, so recording is
only an assignment.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from growth.kube.cache.health import CacheHealth

if TYPE_CHECKING:
    from growth.errors import GrowthError
    from growth.kube.cache.suspicion import Suspicion


class Vitals:
    """The values of `CacheHealth`. Times are of the event loop's clock."""

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
        """Note received bytes."""
        self.last_heard = self._clock()

    def changed(self) -> None:
        """Note changed objects."""
        self.last_event = self._clock()

    def connected(self) -> None:
        """Note that the watch is connected, so that all events arrive from now on."""
        self._blind_since = None
        self.problem = ""

    def listed(self) -> None:
        """Note a complete list."""
        self.connected()
        self.listed_at = self._clock()
        self.lists += 1

    def disconnected(self, error: GrowthError | None = None) -> None:
        """Note the end of a connection, and its error."""
        # The cache is blind since the last bytes, even if the failure was noticed much later.
        if self._blind_since is None:
            self._blind_since = self.last_heard if self.last_heard is not None else self._clock()
        if error is not None:
            self.problem = str(error)

    def silence(self) -> float:
        """Seconds since the last bytes; infinite before the first ones."""
        return float("inf") if self.last_heard is None else self._clock() - self.last_heard

    def health(self, *, unreadable: int) -> CacheHealth:
        """The state of the cache now."""
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
