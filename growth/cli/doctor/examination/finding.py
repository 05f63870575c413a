"""What an examination finds, and the cluster that it examines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from growth.kube.reads import Reads

if TYPE_CHECKING:
    from growth.kube.transport import Connection

PATIENCE: Final = 4.0
"""Seconds to wait for an answer, so that a cluster that doesn't answer is reported within five."""


class Level(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    level: Level
    subject: str
    text: str
    hint: str = ""
    """How to fix it."""


class ExaminedCluster(Reads):
    """A cluster, and the namespace in which growth runs."""

    def __init__(self, connection: Connection, namespace: str) -> None:
        super().__init__(connection, limit=PATIENCE)
        self.namespace = namespace


Findings = AsyncIterator[Finding]
Examination = Callable[[ExaminedCluster], Findings]


def ok(subject: str, text: str) -> Finding:
    """A finding without a problem."""
    return Finding(Level.OK, subject, text)


def warn(subject: str, text: str, hint: str) -> Finding:
    """A finding worth a look; nothing is broken."""
    return Finding(Level.WARN, subject, text, hint)


def fail(subject: str, text: str, hint: str) -> Finding:
    """A finding about something that doesn't work but must."""
    return Finding(Level.FAIL, subject, text, hint)
