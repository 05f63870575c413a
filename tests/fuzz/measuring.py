"""What an input costs, beside what its harmless neighbour costs, on a machine that may be busy.

Time is that of this thread on the processor. A moment's disturbance makes one measurement long, so
an input counts as slow only if it is grossly slower each time that both sides are measured.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Measured = Mapping[str, float]
    """Seconds, by what was measured."""

LIMIT: Final = 0.05
"""Seconds that an input may take more than its neighbour."""
GROSS: Final = 5.0
REPEATS: Final = 4


class Sides(NamedTuple):
    """Seconds for an input and for its neighbour."""

    input: float
    neighbour: float

    @property
    def is_gross(self) -> bool:
        """Whether the input takes much longer, in seconds and as a ratio."""
        return self.input > self.neighbour + LIMIT and self.input > GROSS * self.neighbour

    @override
    def __str__(self) -> str:
        return f"{1000 * self.input:.1f} ms, its neighbour {1000 * self.neighbour:.1f} ms"


def seconds_of(work: Callable[[], object]) -> float:
    """On the processor."""
    begun = time.thread_time()
    work()
    return time.thread_time() - begun


def slow_parts(
    measured: Callable[[], Measured], neighbour: Callable[[], Measured]
) -> Mapping[str, Sides]:
    """The parts of an input that are grossly slower each time, with the last measurement."""
    found = _sides(measured(), neighbour())
    slow = {name: each for name, each in found.items() if each.is_gross}
    for _ in range(REPEATS - 1):
        if not slow:
            break
        again = _sides(measured(), neighbour())
        slow = {name: again[name] for name in slow if name in again and again[name].is_gross}
    return slow


def _sides(measured: Measured, neighbour: Measured) -> Mapping[str, Sides]:
    return {name: Sides(each, neighbour.get(name, 0.0)) for name, each in measured.items()}


class Slowest:
    """The largest differences so far, to print."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[Sides, str]] = {}

    def note(self, measured: Measured, neighbour: Measured, what: str) -> None:
        """One more input."""
        for name, sides in _sides(measured, neighbour).items():
            before, _ = self._found.get(name, (Sides(0.0, 0.0), ""))
            if sides.input - sides.neighbour > before.input - before.neighbour:
                self._found[name] = sides, what

    @override
    def __str__(self) -> str:
        return "\n".join(
            f"{name:24} {sides}: {what[:100]!r}" for name, (sides, what) in self._found.items()
        )
