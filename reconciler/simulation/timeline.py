"""Virtual time: what is to happen, and when. The only clock of a simulated world.

Two things at one moment happen in the order in which they were arranged, so a run is a function of
its seed. Moments are kept to the microsecond: sums of the same spans are then the same number.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Timeline:
    """Things to come, in their order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.events = 0
        """How many things have happened."""
        self._coming: list[tuple[float, int, Callable[..., object], tuple[Any, ...]]] = []
        self._arranged = 0
        self._is_stopped = False

    def at(self, moment: float, action: Callable[..., object], *arguments: Any) -> None:
        """Arrange for something to happen at a moment, or now if that has passed."""
        self._arranged += 1
        due = max(self.now, round(moment, 6))
        heapq.heappush(self._coming, (due, self._arranged, action, arguments))

    def after(self, seconds: float, action: Callable[..., object], *arguments: Any) -> None:
        """Arrange for something to happen in so many seconds."""
        self.at(self.now + seconds, action, *arguments)

    def run(self, until: float) -> None:
        """Let happen whatever comes up to a moment, that moment included."""
        coming = self._coming
        while coming and coming[0][0] <= until and not self._is_stopped:
            self.now, _, action, arguments = heapq.heappop(coming)
            self.events += 1
            action(*arguments)
        if not self._is_stopped:
            self.now = max(self.now, until)

    def stop(self) -> None:
        """Let nothing more happen."""
        self._is_stopped = True
