"""How long to wait after a failure: exponential, with jitter and an upper limit.

All clients lose an API server at the same moment. If they also came back at the same moment, they
would overload it again. So half of each wait is random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


class Backoff:
    """The waits of one caller."""

    def __init__(self, *, chance: Random, first: float = 0.25, longest: float = 30.0) -> None:
        self._chance = chance
        self._first = first
        self._longest = longest
        self._failures = 0

    def after_failure(self, *, asked: float | None = None) -> float:
        """Seconds to wait now, and no less than the server asked for (Retry-After)."""
        # Cut at 2 ** 16, which is far beyond the longest wait, to keep the number small.
        full: float = min(self._longest, self._first * 2 ** min(self._failures, 16))
        self._failures += 1
        share = self._chance.uniform(0.5, 1.0)
        # Spread upwards: all clients are told the same number, and none may come back before it.
        return max(full * share, asked * (1.5 - share / 2) if asked else 0.0)

    def succeed(self) -> None:
        """Start again with the shortest wait after the next failure."""
        self._failures = 0
