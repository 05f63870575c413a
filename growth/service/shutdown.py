"""The end of the process comes within its limit, whatever still runs.

Whoever finds that it has to end (a signal, a part that crashed) begins the shutdown, with the exit
code that it has earned. From then on a thread of its own counts. A loop that is blocked, a part
that takes no cancellation and a thread that hangs can hold up everything in asyncio, and the
interpreter's own exit too, but not that thread: when the time is up it says who is late and ends
the process.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MARGIN = 0.1
"""The part of the limit that is kept for the last line and the exit itself."""
LAST_WORDS = 0.2
"""Seconds for that line: a full pipe, or a lock held by what hangs, must not hold it up."""


class Shutdown:
    """The end of one process, begun once."""

    def __init__(self, *, limit: float, last_words: Callable[[], None]) -> None:
        self._limit = limit
        self._last_words = last_words
        self._lock = threading.Lock()
        self._exit_code: int | None = None

    @property
    def begun(self) -> bool:
        """Whether the process is ending."""
        return self._exit_code is not None

    @property
    def exit_code(self) -> int:
        """What to exit with: the gravest of what was found."""
        return self._exit_code or 0

    def begin(self, exit_code: int) -> None:
        """Let the time run. Safe in any thread, and when it runs already."""
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
