"""Whether a whole list may be something else than the truth.

An autoscaler that believes an empty list deletes a cluster; it has happened. Deletions that were
watched are true. A list that lacks half of what was known may be an empty cache, a wrong server or
a restored backup, and it costs ten seconds to ask again.
"""

from __future__ import annotations

import enum


class Suspicion(enum.Enum):
    """Why the last list may not be the truth, until a second one has agreed with it."""

    WENT_BACK = "the API server's versions went back: it was restored, or it is another one"
    SHRANK = "a list shows none, or less than half, of what was known"


def suspicion_of(*, known: int, found: int, is_older: bool) -> Suspicion | None:
    """Judges a list by what was known before it."""
    if is_older:
        return Suspicion.WENT_BACK
    if known and 2 * found < known:
        return Suspicion.SHRANK
    return None
