"""The progress of a long step: one line that is redrawn, or a line now and then.

On a terminal the line changes in place. In a log file, where redrawing doesn't work, a line is
written every 15 seconds, so that a build of six minutes is neither silent nor verbose.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS_BETWEEN_LINES: Final = 15.0
SECONDS_BETWEEN_REDRAWS: Final = 0.1


@dataclass
class Progress:
    """Lines for people, on standard error; standard output contains only the result."""

    stream: TextIO = field(default_factory=lambda: sys.stderr)
    clock: Callable[[], float] = time.monotonic
    _shown_at: float | None = None
    _drawn: bool = False
    _waits_for: str = ""
    _waits_since: float = 0.0

    def say(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        self.stream.write(f"{text}\n")
        self.stream.flush()

    def clear(self) -> None:
        """Remove the line that is redrawn, before something else is printed."""
        if self._drawn:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
        self._drawn = False

    def wait(self, text: str) -> None:
        """A wait for another command: one line, and then how long it has lasted."""
        now = self.clock()
        if self._waits_for != text:
            self._waits_for, self._waits_since = text, now
            self.say(text)
        self.show(f"{text} ({now - self._waits_since:.0f} s so far)")

    def show(self, text: str) -> None:
        """The progress of a long step; most calls write nothing."""
        now = self.clock()
        terminal = self.stream.isatty()
        pause = SECONDS_BETWEEN_REDRAWS if terminal else SECONDS_BETWEEN_LINES
        # In a log, the first line comes after a pause too, so that short steps write none.
        if self._shown_at is None:
            self._shown_at = now - (pause if terminal else 0)
        if now - self._shown_at < pause:
            return
        self._shown_at = now
        if terminal:
            self.stream.write(f"\r\x1b[K{text}")
            self._drawn = True
        else:
            self.stream.write(f"{text}\n")
        self.stream.flush()
