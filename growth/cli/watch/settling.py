"""When `growth watch --until-settled` ends: nothing is left to do, or nothing can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.cli.watch.happenings import is_settled
from growth.errors import GiveUp

if TYPE_CHECKING:
    from growth.cli.status.watched import WatchedCluster

QUIET_LOOKS: Final = 5
"""Looks in a row without anything to do before the command ends, because the scheduler may not have
seen the newest pods yet."""
STANDSTILL: Final = 30.0
"""Seconds without progress of growth before that is the answer: a new leader takes over in less."""


class Settling(msgspec.Struct, frozen=True, kw_only=True):
    """What the looks until now have in common."""

    quiet: int = 0
    """Looks in a row that found nothing to do."""
    still: float = 0.0
    """Seconds for which growth stands still."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.quiet >= QUIET_LOOKS

    def after(self, seen: WatchedCluster, *, seconds: float) -> Settling:
        """With another look, so many seconds later; raises where no end can come."""
        quiet = self.quiet + 1 if is_settled(seen) else 0
        trouble = seen.trouble
        if quiet or trouble is None or not trouble.stands_still:
            return Settling(quiet=quiet)
        if self.still + seconds >= STANDSTILL:
            raise GiveUp(f"not settling: {trouble.text} ({trouble.hint})")
        return Settling(still=self.still + seconds)
