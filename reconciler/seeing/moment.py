"""The clocks of production: the one place where the reconciler reads them for its rules."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from growth.instant import Instant


def now() -> Instant:
    """This moment."""
    return Instant(monotonic=time.monotonic(), wall=datetime.now(UTC))
