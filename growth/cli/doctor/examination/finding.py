"""What an examination finds, and where it looks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from growth.kube.errors import NotFound

if TYPE_CHECKING:
    from growth.kube.call import Query
    from growth.kube.transport import Connection, Response

PATIENCE: Final = 4.0
"""Seconds to wait for an answer: a person is told within five that nobody is there."""


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


class ExaminedCluster(NamedTuple):
    """A cluster, and the namespace of it that growth runs in."""

    connection: Connection
    namespace: str

    async def answer(self, path: str, query: Query = ()) -> Response | None:
        """What the API server answers; None where nothing is at this path."""
        try:
            return await self.connection.request("GET", path, query=query, timeout=PATIENCE)
        except NotFound:
            return None

    async def found(self, path: str) -> dict[str, Any] | None:
        """What is at a path, if anything is."""
        answer = await self.answer(path)
        return None if answer is None else answer.json()

    async def listed(self, path: str, query: Query = ()) -> list[dict[str, Any]]:
        """The objects of a collection; none where there is no such collection."""
        answer = await self.answer(path, query)
        return [] if answer is None else answer.json()["items"]


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
