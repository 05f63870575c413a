"""The right to act, and the clock that it is measured on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from growth.errors import RetryLater

if TYPE_CHECKING:
    from collections.abc import Callable


class LeadershipLost(RetryLater):
    """Another process may lead now: stop, and stand as a candidate again."""


class Leadership:
    """The right to act, as long as it lasts."""

    def __init__(self, seconds_left: Callable[[], float], *, vacant_for: float = 0.0) -> None:
        self._seconds_left = seconds_left
        self.vacant_for = vacant_for
        """Seconds in which nobody led before: what nobody has looked at in that time isn't known.

        It is told by clocks on walls, which may be wrong: good for waits that become longer, and
        for nothing that has to be so.
        """

    def check(self) -> None:
        """Ask this right before each call that costs money or can't be undone."""
        if self._seconds_left() <= 0:
            raise LeadershipLost("the leadership has ended: nothing may be bought or deleted")


def boot_clock() -> float:
    """Seconds that go on while the machine is suspended, where the system can count them."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
