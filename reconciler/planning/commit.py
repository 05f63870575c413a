"""When a plan is made: pods of one wave are planned together, without a long wait.

The plan waits for one gap without new pods; for two gaps while the scheduler hasn't judged all pods
of their owners; and longer while it hasn't looked at pods that were just created. A busy scheduler
needs many gaps from one pod to the next, and a wave that is planned in pieces buys too much. A wave
right after another also waits longer, because it is probably the end of the same burst. While pods
keep coming the plan waits on, but never longer than a second.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

GAP = 0.025
"""Seconds without a new pod after which a wave is complete."""
BUSY_GAP = 0.2
"""The same, while pods that were created just now wait for the scheduler's first look."""
FOLLOWING_GAP = 0.1
"""The same, soon after a plan was asked for."""
SOON = 0.25
"""Seconds after a question for which a new wave counts as the rest of the one before."""
LONGEST = 1.0
"""Seconds after which a plan is made though pods still keep coming."""


class Missing(Enum):
    """Which pods of a wave the scheduler hasn't judged yet."""

    NONE = "none"
    SIBLINGS = "siblings"
    NEWCOMERS = "newcomers"


# A busy scheduler takes 50 to 100 ms from one pod to the next. With one short gap for all cases a
# wave of 50 pods was planned in seven pieces, and cost a fifth more than the bound.
GAPS = {Missing.NONE: GAP, Missing.SIBLINGS: 2 * GAP, Missing.NEWCOMERS: BUSY_GAP}


class WaveWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A wave of pods that has begun and isn't planned yet."""

    uids: frozenset[str]
    opened_at: float
    grew_at: float

    def closes_at(self, missing: Missing, *, asked_at: float) -> float:
        """When the wave counts as complete, if no other pod comes."""
        is_rest = self.opened_at - asked_at < SOON
        gap = max(GAPS[missing], FOLLOWING_GAP if is_rest else 0.0)
        return min(self.grew_at + gap, self.opened_at + LONGEST)


def widened(before: WaveWindow | None, uids: Iterable[str], now: float) -> WaveWindow | None:
    """The window after this pass; None if no pod waits."""
    waiting = frozenset(uids)
    if not waiting:
        return None
    if before is None:
        return WaveWindow(uids=waiting, opened_at=now, grew_at=now)
    grew_at = before.grew_at if waiting <= before.uids else now
    return WaveWindow(uids=waiting | before.uids, opened_at=before.opened_at, grew_at=grew_at)
