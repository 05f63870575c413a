"""Cooldowns, and when a pool was last scaled.

After each change of a pool's size, some time passes before the next one of the same kind. The times
are kept in the pool's status, so cooldowns also hold after a restart.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

DOWN_COOLDOWN: Final = 600.0
"""Seconds without a removal after a change of size, where the pool names none, or 0."""


def lasts(span: float, *, elapsed: float | None) -> bool:
    """Whether a span isn't over; it is over when it is met, and if it never began."""
    return elapsed is not None and elapsed < span


def is_cooling_up(cooldown: float, *, elapsed: float | None) -> bool:
    """Whether a pool may not grow yet; 0 is no cooldown."""
    return lasts(cooldown, elapsed=elapsed)


def is_cooling_down(cooldown: float, *, elapsed: float | None) -> bool:
    """Whether a pool may not shrink yet; 0 is the default."""
    return lasts(cooldown or DOWN_COOLDOWN, elapsed=elapsed)


def time_left(span: float, *, elapsed: float) -> float | None:
    """Seconds that are left of a span; None if the span is 0, which means that it has no end."""
    return span - elapsed if span else None


class ScalingTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The desired size of a pool, and when it was changed."""

    desired: int
    changed_at: datetime | None = None
    grown_at: datetime | None = None
    shrunk_at: datetime | None = None

    def resized(self, desired: int, *, now: datetime) -> ScalingTimes:
        """The same with another desired size; nothing changes if it is the same."""
        if desired == self.desired:
            return self
        if desired > self.desired:
            return ScalingTimes(
                desired=desired, changed_at=now, grown_at=now, shrunk_at=self.shrunk_at
            )
        return ScalingTimes(desired=desired, changed_at=now, grown_at=self.grown_at, shrunk_at=now)
