"""The right to act as the leader, and the clock that measures it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from growth.errors import RetryLater

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class LeadershipLost(RetryLater):
    """Another process may lead now: stop, and become a candidate again."""


class Leadership:
    """The right to act as the leader, for a limited time."""

    def __init__(
        self,
        seconds_left: Callable[[], float],
        *,
        vacant_for: float = 0.0,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        self._seconds_left = seconds_left
        self.annotations = annotations or {}
        """The annotations of the Lease when we took it."""
        self.vacant_for = vacant_for
        """The seconds without a leader before us, in which nothing was observed.

        They are measured by wall clocks, which may be wrong. Use them only to make waits longer,
        never for safety.
        """

    def check(self) -> None:
        """Call this right before each call that costs money or can't be undone."""
        if self._seconds_left() <= 0:
            raise LeadershipLost("the leadership has ended: nothing may be bought or deleted")


def boot_clock() -> float:
    """A monotonic clock that also counts while the machine is suspended, if the system has one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
