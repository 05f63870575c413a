"""When `growth watch --until-settled` ends: nothing is left to do, or growth can't do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.cli.watch.happenings import is_settled
from growth.errors import GiveUp

if TYPE_CHECKING:
    from growth.cli.status.watched import WatchedCluster

QUIET_LOOKS: Final = 5
"""Consecutive reads without anything to do before the command ends; the scheduler may be late."""
STANDSTILL: Final = 30.0
"""Seconds without progress before the command fails: a new leader takes over in less time."""


class Settling(msgspec.Struct, frozen=True, kw_only=True):
    """What is known from the reads so far."""

    quiet: int = 0
    """Consecutive reads without anything to do."""
    still: float = 0.0
    """Seconds since growth last made progress."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.quiet >= QUIET_LOOKS

    def after(self, seen: WatchedCluster, *, seconds: float) -> Settling:
        """The state after another read, this many seconds later; raises if it can never settle."""
        quiet = self.quiet + 1 if is_settled(seen) else 0
        trouble = seen.trouble
        if quiet or trouble is None or not trouble.stands_still:
            return Settling(quiet=quiet)
        if self.still + seconds >= STANDSTILL:
            raise GiveUp(f"not settling: {trouble.text} ({trouble.hint})")
        return Settling(still=self.still + seconds)
