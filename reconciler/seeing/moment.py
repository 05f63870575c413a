"""The clocks of production: the one place where the reconciler reads them for its rules."""

from __future__ import annotations

import time

from growth.clocks import wall_clock
from growth.instant import Instant


def now() -> Instant:
    """This moment."""
    return Instant(monotonic=time.monotonic(), wall=wall_clock())
