"""How far a cache can be trusted, as one value for those who decide.

A cache that is old looks exactly like one that is new. So each one says whether it has ever been
whole, since when it hears nothing, and whether its last list looks like the truth; the brakes keep
their hands still by that.
"""

from __future__ import annotations

import msgspec

from growth.kube.cache.suspicion import Suspicion


class CacheHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one cache. Times are those of the event loop."""

    is_complete: bool = False
    """Whether a whole list was ever taken in."""
    blind_since: float | None = None
    """When it last heard anything, if it is not connected now."""
    last_heard: float | None = None
    """When the last bytes came, bookmarks included; the API server sends one each minute."""
    last_event: float | None = None
    """When the last object changed."""
    listed_at: float | None = None
    """When the last whole list was taken in."""
    lists: int = 0
    """How many whole lists were taken in."""
    suspicion: Suspicion | None = None
    unreadable: int = 0
    """Objects that are there but can't be decoded."""
    problem: str = ""
    """What went wrong last, while it isn't mended."""
