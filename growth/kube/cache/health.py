"""How far a cache can be trusted.

A stale cache looks exactly like a current one. So each cache reports whether it has ever been
complete, how long it has been disconnected, and whether its last list is plausible. The brakes stop
actions based on that.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.errors import GrowthError


class Suspicion(enum.Enum):
    """Why the last list may be wrong, until a second one agrees with it.

    An autoscaler that believes a wrong, empty list deletes a cluster; this has happened. Deletions
    that were watched are reliable. But a list that lacks more than half of the known objects may
    come from an empty cache, a wrong server or a restored backup. Asking again takes only ten
    seconds.
    """

    WENT_BACK = "the API server's versions went back: it was restored, or it is another one"
    SHRANK = "a list shows none, or less than half, of what was known"


def suspicion_of(*, known: int, found: int, is_older: bool) -> Suspicion | None:
    """The suspicion about a list, compared with the objects known before; None if it is fine."""
    if is_older:
        return Suspicion.WENT_BACK
    if known and 2 * found < known:
        return Suspicion.SHRANK
    return None


class CacheHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one cache. Times are of the event loop's clock."""

    is_complete: bool = False
    """Whether a complete list was ever read."""
    blind_since: float | None = None
    """The time of the last received bytes, if it isn't connected now."""
    last_heard: float | None = None
    """When the last bytes were received; the API server sends a bookmark each minute."""
    last_event: float | None = None
    """When the last object changed."""
    listed_at: float | None = None
    """When the last complete list was read."""
    lists: int = 0
    """The number of complete lists."""
    suspicion: Suspicion | None = None
    unreadable: int = 0
    """Objects that exist but can't be decoded."""
    problem: str = ""
    """The current error, if there is one."""


class Vitals:
    """The values of `CacheHealth`. Times are of the event loop's clock.

    They are recorded with each piece of data, thousands of times during a list, so recording is
    only an assignment.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
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
