"""Steps that end with an exception that nothing foresees: a bug, or an answer nobody thought of.

It must not end the process, and it must not be repeated all the time. So it is remembered, and the
next pass puts the subject aside (reconciler/aside/crashed.py). How long the subject waits for the
next try doubles with each crash in a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.kube.backoff import Backoff
from reconciler.aside.blaming import told_without_values
from reconciler.core.actions import CrashedStep, only_tells

if TYPE_CHECKING:
    from random import Random

    from reconciler.core.actions import Sequence, Subject

FIRST_WAIT: Final = 10.0
LONGEST_WAIT: Final = 600.0
REMEMBERED: Final = 1000
"""How many subjects are remembered. The oldest are forgotten; they may have disappeared."""


class Crashing:
    """Notes crashes where the World takes them from."""

    def __init__(self, crashes: dict[Subject, CrashedStep], *, chance: Random) -> None:
        self._crashes = crashes
        self._chance = chance
        self._waits: dict[Subject, Backoff] = {}

    def note(self, subject: Subject, error: Exception, *, now: float) -> CrashedStep:
        """Note a crash; returns what is known of it."""
        if len(self._waits) > REMEMBERED:
            self._forget(next(iter(self._waits)))
        wait = self._waits.setdefault(
            subject, Backoff(chance=self._chance, first=FIRST_WAIT, longest=LONGEST_WAIT)
        )
        crash = CrashedStep(
            why=told_without_values(error, step="effects"), again_at=now + wait.after_failure()
        )
        self._crashes[subject] = crash
        return crash

    def succeeded(self, sequence: Sequence) -> None:
        """Forget the crash, unless the sequence has only told of it."""
        if not only_tells(sequence):
            self._forget(sequence.subject)

    def _forget(self, subject: Subject) -> None:
        self._waits.pop(subject, None)
        self._crashes.pop(subject, None)
