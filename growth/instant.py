"""One moment on both clocks: the one that measures spans, and the one that people read.

Spans that we measure ourselves (how long a node is idle, how long a source has been blind) are
differences of `monotonic`, which no administrator and no leap second can move. What is written into
objects, and compared with what others wrote there, is `wall`. A decision gets both as one value and
reads no clock itself.
"""

from __future__ import annotations

from datetime import datetime

import msgspec


class Instant(msgspec.Struct, frozen=True):
    """Now, as a decision sees it."""

    monotonic: float
    """Seconds since some start; only differences mean anything."""
    wall: datetime
    """In UTC."""

    def seconds_since(self, moment: datetime) -> float:
        """How long ago something written was; negative if its writer's clock is ahead of ours."""
        return (self.wall - moment).total_seconds()
