"""Liveness and readiness of a process.

*Alive* (/healthz) means that all loops still run: each has a pulse, and an overdue pulse requests a
restart. *Ready* (/readyz) means that all checks of the parts pass. It never requests a restart,
because that wouldn't help if the API server is down. Checks are plain functions that read state in
memory, so they are cheap and can't hang.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Check = Callable[[], str | None]
    """Returns what is missing, or None."""


@dataclass(frozen=True)
class HealthVerdict:
    """The result of a check."""

    name: str
    missing: str | None

    @property
    def good(self) -> bool:
        """Whether nothing is missing."""
        return self.missing is None


def all_good(verdicts: Iterable[HealthVerdict]) -> bool:
    """Whether all checks pass."""
    return all(verdict.good for verdict in verdicts)


class Pulse:
    """The heartbeat of a loop, which is due within the limit."""

    def __init__(self, *, limit: float, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._clock = clock
        self._last = clock()

    def beat(self) -> None:
        """Note a heartbeat."""
        self._last = self._clock()

    def overdue(self) -> str | None:
        """How long there has been no heartbeat, if that is too long."""
        silence = self._clock() - self._last
        return f"no heartbeat for {silence:.1f} s" if silence > self._limit else None


class ProcessHealth:
    """The checks and pulses of one process."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._checks: dict[str, Check] = {}
        self._pulses: dict[str, Pulse] = {}
        self._ending = False

    def require(self, name: str, check: Check) -> None:
        """Make readiness depend on a check. A part calls this before its first await."""
        _refuse_second(name, self._checks)
        self._checks[name] = check

    def pulse(self, name: str, *, limit: float) -> Pulse:
        """Make liveness depend on a pulse that must beat at least every `limit` seconds."""
        _refuse_second(name, self._pulses)
        self._pulses[name] = Pulse(limit=limit, clock=self._clock)
        return self._pulses[name]

    def end(self) -> None:
        """Stop being ready, whatever the checks say. Safe in any thread."""
        self._ending = True

    def readiness(self) -> tuple[HealthVerdict, ...]:
        """The results of all checks in the order of registration, after the process itself."""
        process = HealthVerdict("process", "it is shutting down" if self._ending else None)
        return (process, *(HealthVerdict(name, check()) for name, check in self._checks.items()))

    def liveness(self) -> tuple[HealthVerdict, ...]:
        """The results of all pulses, in the order of registration."""
        return tuple(HealthVerdict(name, pulse.overdue()) for name, pulse in self._pulses.items())


def _refuse_second(name: str, known: Iterable[str]) -> None:
    if name in known:
        raise ValueError(f"two parts have a check or a pulse with the name {name!r}")
