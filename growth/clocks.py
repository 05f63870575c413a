"""The clock on the wall, for what is written into objects and for what is dated by others."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from growth.instant import Instant


def wall_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - this is where it is asked


def both_clocks() -> Instant:
    """Now, on the monotonic clock and on the wall."""
    return Instant(monotonic=time.monotonic(), wall=wall_clock())
