"""How long to wait after a failure: longer each time, never in step with others, never without end.

Everything that loses an API server loses it at the same moment; what comes back at the same moment
too takes it down again. So half of each wait is chance.
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
        """Seconds to wait now; never less than the other side asked for (Retry-After)."""
        # 2 ** 16 quarters of a second are far beyond any longest wait, and the power stays small.
        full: float = min(self._longest, self._first * 2 ** min(self._failures, 16))
        self._failures += 1
        share = self._chance.uniform(0.5, 1.0)
        return max(full * share, asked * (1.5 - share / 2) if asked else 0.0)

    def succeed(self) -> None:
        """The next failure is a first one again."""
        self._failures = 0
