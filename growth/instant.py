"""One moment on both clocks: the one that measures spans, and the one that people read.

Spans that we measure ourselves (how long a node is idle, how long a source has been blind) are
differences of `monotonic`, which no administrator and no leap second can move. What is written into
objects, and compared with what others wrote there, is `wall`. A decision gets both as one value and
reads no clock itself.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

FAR_AHEAD: Final = datetime(8999, 1, 1, tzinfo=UTC)
"""Later than this is never: a sum with it stays within what a datetime can hold."""


class Instant(msgspec.Struct, frozen=True):
    """Now, as a decision sees it."""

    monotonic: float
    """Seconds since some start; only differences mean anything."""
    wall: datetime
    """In UTC."""

    def seconds_since(self, moment: datetime) -> float:
        """How long ago something written was; negative if its writer's clock is ahead of ours."""
        return (self.wall - moment).total_seconds()

    def ahead(self, seconds: float) -> datetime:
        """The wall time in so many seconds, or FAR_AHEAD: others may write any span."""
        left = (FAR_AHEAD - self.wall).total_seconds()
        return self.wall + timedelta(seconds=min(seconds, left))

    def left_of(self, wait: float, *, since: datetime) -> float:
        """Seconds that are left of a wait whose beginning was written; below zero where it is over.

        A beginning that lies further ahead than the wait is long was written before a clock was set
        back. Such a wait is over: it would otherwise last until the clock has caught up.
        """
        left = wait - self.seconds_since(since)
        return left if left < 2 * wait else -math.inf


def just_after(moment: float) -> float:
    """A hair later in monotonic seconds: a time is over when it is exceeded, not when it is met."""
    return moment + 1e-3


def whole_second(moment: datetime) -> datetime:
    """A moment as it is told, rounded up: a time that was told is never too early.

    What was reckoned from both clocks, which are read one after the other, may seem a hair too late
    and is still the same second.
    """
    seconds = math.ceil(moment.microsecond / 1e6 - 1e-3)
    return moment.replace(microsecond=0) + timedelta(seconds=seconds)
