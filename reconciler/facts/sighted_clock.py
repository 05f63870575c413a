"""The clock of removal: it stops while growth doesn't see everything.

An outage is not idle time. What happened while growth was blind is unknown, so a wait continues
afterwards where it stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from reconciler.core.decision import NEVER

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.core.world import World


class SightedClock(msgspec.Struct, frozen=True, kw_only=True):
    """This moment, in seconds of sight."""

    now: float
    monotonic: float
    runs: bool

    def wake_at(self, moment: float) -> float:
        """When a moment of this clock comes, in monotonic seconds; NEVER while it stands."""
        return self.monotonic + moment - self.now if self.runs else NEVER


def sighted_clock(world: World, now: Instant) -> SightedClock:
    """The clock at this pass."""
    known = world.ledger.removal
    runs = world.ledger.brakes.may_remove
    passed = 0.0 if known.looked_at is None or not runs else now.monotonic - known.looked_at
    return SightedClock(now=known.seen + passed, monotonic=now.monotonic, runs=runs)
