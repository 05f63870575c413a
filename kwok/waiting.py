"""Waits with a time limit, which say what they waited for, for how long, and where to look.

They wait for other programs, on a machine that may be busy. So a limit is far above the usual time:
it is for programs that hang, not for slow ones.
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
    """How long one wait, or several waits in a row, may last."""

    seconds: float
    began: float = field(default_factory=_now)

    def is_over(self) -> bool:
        """Whether the time is up."""
        return _now() - self.began > self.seconds


def wait_for(
    look: Callable[[], Seen | None], goal: str, *, patience: Patience, log: Path | None = None
) -> Seen:
    """Call `look` until it returns something, and return that."""
    while not (seen := look()):
        if patience.is_over():
            where = "" if log is None else f"; see {log}"
            raise GiveUp(f"timed out after {patience.seconds:.0f} s waiting for {goal}{where}")
        time.sleep(_LOOKS_EVERY)
    return seen
