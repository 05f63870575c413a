"""The history of a run, line by line, and its hash, which is equal for equal runs."""

from __future__ import annotations

import hashlib
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.simulation.timeline import Timeline

LAST_LINES = 40
"""The number of lines that are kept by default, for the report of a breach."""


class Trace:
    """The history of one run."""

    def __init__(self, timeline: Timeline, *, keep: int | None = LAST_LINES) -> None:
        self.lines: deque[str] = deque(maxlen=keep)
        self._timeline = timeline
        self._digest = hashlib.blake2b(digest_size=16)

    def note(self, text: str) -> None:
        """Add a line at the current time."""
        line = f"{self._timeline.now:13.6f}  {text}"
        self._digest.update(line.encode())
        self.lines.append(line)

    @property
    def hash(self) -> str:
        """The hash of the history."""
        return self._digest.hexdigest()
