"""Virtual time: the scheduled events. It is the only clock of a simulated cluster.

Events at the same time happen in the order in which they were scheduled, so a run is a function of
its seed. Times are rounded to microseconds, so that equal sums of durations are equal numbers.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Timeline:
    """The scheduled events in order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.events = 0
        """The number of events that have happened."""
        self._coming: list[tuple[float, int, Callable[..., object], tuple[Any, ...]]] = []
        self._arranged = 0
        self._is_stopped = False

    def at(self, moment: float, action: Callable[..., object], *arguments: Any) -> None:
        """Schedule an event at a time, or now if it has passed."""
        self._arranged += 1
        due = max(self.now, round(moment, 6))
        heapq.heappush(self._coming, (due, self._arranged, action, arguments))

    def after(self, seconds: float, action: Callable[..., object], *arguments: Any) -> None:
        """Schedule an event after some seconds."""
        self.at(self.now + seconds, action, *arguments)

    def run(self, until: float) -> None:
        """Run all events up to a time, including that time."""
        coming = self._coming
        while coming and coming[0][0] <= until and not self._is_stopped:
            self.now, _, action, arguments = heapq.heappop(coming)
            self.events += 1
            action(*arguments)
        if not self._is_stopped:
            self.now = max(self.now, until)

    def stop(self) -> None:
        """Run no more events."""
        self._is_stopped = True
