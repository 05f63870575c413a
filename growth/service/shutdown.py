"""Ends the process within its time limit, whatever is still running.

A signal or a crashed part begins the shutdown, with an exit code. From then on, a separate thread
counts the time. A blocked event loop, a part that ignores cancellation, or a hanging thread can
delay everything in asyncio and also the exit of the interpreter, but not this thread. When the time
is up, it logs what is still running and ends the process.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MARGIN = 0.1
"""The share of the limit that is reserved for the last log line and the exit."""
LAST_WORDS = 0.2
"""Seconds for that line: a full pipe, or a lock that a hanging thread holds, must not block it."""


class Shutdown:
    """The shutdown of a process; it begins only once."""

    def __init__(self, *, limit: float, last_words: Callable[[], None]) -> None:
        self._limit = limit
        self._last_words = last_words
        self._lock = threading.Lock()
        self._exit_code: int | None = None

    @property
    def begun(self) -> bool:
        """Whether the shutdown has begun."""
        return self._exit_code is not None

    @property
    def exit_code(self) -> int:
        """The exit code: the highest of all that were reported."""
        return self._exit_code or 0

    def begin(self, exit_code: int) -> None:
        """Start the time limit. Safe in any thread, and if it has started already."""
        with self._lock:
            first = not self.begun
            self._exit_code = max(self.exit_code, exit_code)
        if first:
            threading.Thread(target=self._enforce, name="shutdown", daemon=True).start()

    def _enforce(self) -> None:
        time.sleep(self._limit * (1 - MARGIN))
        speaking = threading.Thread(target=self._last_words, name="last words", daemon=True)
        speaking.start()
        speaking.join(LAST_WORDS)
        os._exit(self.exit_code)
