"""When a plan is made: pods of one wave are planned together, and nobody waits long.

The first pod waits for one quiet gap, for two while pods of its owner haven't been judged by the
scheduler yet; as long as more keep coming the plan waits on, but never longer than a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

GAP = 0.025
"""Seconds without a new pod after which a wave is complete."""
LONGEST = 1.0
"""Seconds after which a plan is made though pods still keep coming."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """A wave of pods that has begun and isn't planned yet."""

    uids: frozenset[str]
    opened_at: float
    grew_at: float

    def closes_at(self, *, siblings_missing: bool) -> float:
        """When the wave counts as complete, if nobody else comes."""
        gap = 2 * GAP if siblings_missing else GAP
        return min(self.grew_at + gap, self.opened_at + LONGEST)


def widened(before: Window | None, uids: Iterable[str], now: float) -> Window | None:
    """The window after this pass; none, if nobody waits."""
    waiting = frozenset(uids)
    if not waiting:
        return None
    if before is None:
        return Window(uids=waiting, opened_at=now, grew_at=now)
    grew_at = before.grew_at if waiting <= before.uids else now
    return Window(uids=waiting | before.uids, opened_at=before.opened_at, grew_at=grew_at)
