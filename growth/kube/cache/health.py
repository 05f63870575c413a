"""How far a cache can be trusted.

A stale cache looks exactly like a current one. So each cache reports whether it has ever been
complete, how long it has been disconnected, and whether its last list is plausible. The brakes stop
actions based on that.
"""

from __future__ import annotations

import msgspec

from growth.kube.cache.suspicion import Suspicion


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
