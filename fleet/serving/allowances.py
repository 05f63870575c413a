"""How often somebody may do something: a few times at once, and then at a steady rate."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MOST: Final = 10_000
"""Keys that are remembered. Those that have waited long are forgotten first."""


class Allowances:
    """One allowance for each key, such as a cluster or an address."""

    def __init__(
        self, *, a_second: float, at_once: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._a_second = a_second
        self._at_once = at_once
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        """What was left, and when; the longest unused first."""

    def take(self, key: str) -> bool:
        """Take one. False if none is left."""
        now = self._clock()
        left, at = self._left.pop(key, (float(self._at_once), now))
        left = min(left + (now - at) * self._a_second, self._at_once)
        self._left[key] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST:
            del self._left[next(iter(self._left))]
        return left >= 1
