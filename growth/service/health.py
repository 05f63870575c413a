"""Is the process alive, and may it be given work: two different questions.

*Alive* (/healthz) means that what has to turn still turns: each loop keeps a pulse, and a pulse
that is overdue asks for a restart. *Ready* (/readyz) means that every check that a part has
registered is content; it never asks for a restart, which wouldn't bring back an API server that is
away. Checks are plain functions that read state in memory: asking costs nothing and can't hang.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Check = Callable[[], str | None]
    """Says what is missing, or None when nothing is."""


@dataclass(frozen=True)
class HealthVerdict:
    """The answer of one check."""

    name: str
    missing: str | None

    @property
    def good(self) -> bool:
        """Whether nothing is missing."""
        return self.missing is None


def all_good(verdicts: Iterable[HealthVerdict]) -> bool:
    """Whether no check misses anything."""
    return all(verdict.good for verdict in verdicts)


class Pulse:
    """Something that has to turn: whoever turns it beats, and a beat is due within the limit."""

    def __init__(self, *, limit: float, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._clock = clock
        self._last = clock()

    def beat(self) -> None:
        """It has turned once more."""
        self._last = self._clock()

    def overdue(self) -> str | None:
        """How long it stands still, if that is too long."""
        silence = self._clock() - self._last
        return f"no turn for {silence:.1f} s" if silence > self._limit else None


class ProcessHealth:
    """What the parts of one process say about themselves."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._checks: dict[str, Check] = {}
        self._pulses: dict[str, Pulse] = {}
        self._ending = False

    def require(self, name: str, check: Check) -> None:
        """Make readiness depend on a check. A part does so before it first awaits anything."""
        _refuse_second(name, self._checks)
        self._checks[name] = check

    def pulse(self, name: str, *, limit: float) -> Pulse:
        """Make liveness depend on a pulse that has to beat at least every `limit` seconds."""
        _refuse_second(name, self._pulses)
        self._pulses[name] = Pulse(limit=limit, clock=self._clock)
        return self._pulses[name]

    def end(self) -> None:
        """From now on nothing new is to come here, whatever the checks say. Safe in any thread."""
        self._ending = True

    def readiness(self) -> tuple[HealthVerdict, ...]:
        """What each check says, in the order in which they came, after the process itself."""
        process = HealthVerdict("process", "it is ending" if self._ending else None)
        return (process, *(HealthVerdict(name, check()) for name, check in self._checks.items()))

    def liveness(self) -> tuple[HealthVerdict, ...]:
        """Which pulses beat, in the order in which they came."""
        return tuple(HealthVerdict(name, pulse.overdue()) for name, pulse in self._pulses.items())


def _refuse_second(name: str, known: Iterable[str]) -> None:
    if name in known:
        raise ValueError(f"two parts ask for health under the name {name!r}")
