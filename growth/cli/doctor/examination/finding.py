"""What an examination finds, and where it looks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from growth.kube.reads import Reads

if TYPE_CHECKING:
    from growth.kube.transport import Connection

PATIENCE: Final = 4.0
"""Seconds to wait for an answer: a cluster that doesn't answer is reported within five."""


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Finding:
    """One line of the answer."""

    level: Level
    subject: str
    text: str
    hint: str = ""
    """How to mend it."""


class ExaminedCluster(Reads):
    """A cluster, and the namespace of it that growth runs in."""

    def __init__(self, connection: Connection, namespace: str) -> None:
        super().__init__(connection, limit=PATIENCE)
        self.namespace = namespace


Findings = AsyncIterator[Finding]
Examination = Callable[[ExaminedCluster], Findings]


def ok(subject: str, text: str) -> Finding:
    """All is well."""
    return Finding(Level.OK, subject, text)


def warn(subject: str, text: str, hint: str) -> Finding:
    """Worth a look; nothing is broken."""
    return Finding(Level.WARN, subject, text, hint)


def fail(subject: str, text: str, hint: str) -> Finding:
    """Something that has to work doesn't."""
    return Finding(Level.FAIL, subject, text, hint)
