"""What has happened, line by line, and the hash that two runs of one seed have in common."""

from __future__ import annotations

import hashlib
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.simulation.timeline import Timeline

LAST_LINES = 40
"""So many are kept for the report of a breach, where nobody asked for all."""


class Trace:
    """The history of one run."""

    def __init__(self, timeline: Timeline, *, keep: int | None = LAST_LINES) -> None:
        self.lines: deque[str] = deque(maxlen=keep)
        self._timeline = timeline
        self._digest = hashlib.blake2b(digest_size=16)

    def note(self, text: str) -> None:
        """One thing that happened now."""
        line = f"{self._timeline.now:13.6f}  {text}"
        self._digest.update(line.encode())
        self.lines.append(line)

    @property
    def hash(self) -> str:
        """The same for the same history."""
        return self._digest.hexdigest()
