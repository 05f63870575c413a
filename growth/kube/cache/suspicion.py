"""Whether a complete list may be wrong.

An autoscaler that believes a wrong, empty list deletes a cluster; this has happened. Deletions that
were watched are reliable. But a list that lacks more than half of the known objects may come from
an empty cache, a wrong server or a restored backup. Asking again takes only ten seconds.
"""

from __future__ import annotations

import enum


class Suspicion(enum.Enum):
    """Why the last list may be wrong, until a second one agrees with it."""

    WENT_BACK = "the API server's versions went back: it was restored, or it is another one"
    SHRANK = "a list shows none, or less than half, of what was known"


def suspicion_of(*, known: int, found: int, is_older: bool) -> Suspicion | None:
    """The suspicion about a list, compared with the objects known before; None if it is fine."""
    if is_older:
        return Suspicion.WENT_BACK
    if known and 2 * found < known:
        return Suspicion.SHRANK
    return None
