"""The only place where the reconciler reads clocks for its rules."""

from __future__ import annotations

import time

from growth.clocks import wall_clock
from growth.instant import Instant


def now() -> Instant:
    """The current time."""
    return Instant(monotonic=time.monotonic(), wall=wall_clock())
