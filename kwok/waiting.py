"""Waits that end by themselves, and say for what they were, for how long, and where to look.

What is waited for is the work of other programs, on a machine that may do much else besides. So a
limit lies far above what is usual: it is there for what hangs, and not for what is slow.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from growth.errors import GiveUp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Seen = TypeVar("Seen")
_LOOKS_EVERY: Final = 0.05


def _now() -> float:
    return time.monotonic()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a wait may last, or several waits after each other."""

    seconds: float
    began: float = field(default_factory=_now)

    def is_over(self) -> bool:
        """Whether it has lasted so long."""
        return _now() - self.began > self.seconds


def wait_for(
    look: Callable[[], Seen | None], goal: str, *, patience: Patience, log: Path | None = None
) -> Seen:
    """Look until there is something to see, and give it."""
    while not (seen := look()):
        if patience.is_over():
            where = "" if log is None else f"; see {log}"
            raise GiveUp(f"timed out after {patience.seconds:.0f} s waiting for {goal}{where}")
        time.sleep(_LOOKS_EVERY)
    return seen
