"""How long something takes on a machine that is busy now and then."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TRIES = 5


def takes_at_most(seconds: float, work: Callable[[], None]) -> bool:
    """Whether it does in one of several tries: other programs may need the processor."""
    return any(_seconds_of(work) < seconds for _ in range(TRIES))


def _seconds_of(work: Callable[[], None]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
