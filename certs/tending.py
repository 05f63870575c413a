"""Keeps certificates current while a process runs, and once when a person requests it.

A round reads everything, writes what is due, and repeats until nothing is due. What can't be
written is reported and left for the next round, so that a missing permission or namespace doesn't
stop the process.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog

from certs.advice import advice
from certs.objects import Objects
from certs.rule import due
from certs.steps import Write, subject_of
from certs.wanted import POLICY, WANTED
from growth.errors import DecideAgain, GrowthError
from growth.kube.election import LeadershipLost

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from certs.metrics import CertsMetrics
    from certs.objects import CertificatesFound
    from certs.wanted import WantedAuthority
    from growth.kube.transport import Connection

INTERVAL: Final = 60.0
"""Seconds between two rounds. A bundle that someone overwrites is restored within this time."""
MOST_TURNS: Final = 20
"""A limit in case two writers keep changing the same object; a complete rotation needs ten."""

log = structlog.get_logger()


class RoundDone(NamedTuple):
    """The result of a round."""

    written: tuple[Write, ...]
    problems: tuple[str, ...]
    """What failed in this round."""
    advice: tuple[str, ...]
    """What else a person must do, now or soon."""
    found: CertificatesFound | None
    """The state after the round; None if it can't be read."""


async def keep_certificates(
    connection: Connection,
    *,
    namespace: str,
    metrics: CertsMetrics,
    may_write: Callable[[], None],
    wanted: Sequence[WantedAuthority] = WANTED,
) -> None:
    """Keep certificates current until cancelled. `may_write` raises if another process leads."""
    objects = Objects(connection, namespace=namespace, wanted=wanted, policy=POLICY)
    told: tuple[str, ...] = ()
    while True:
        try:
            done = await tend(objects, may_write=may_write)
        except LeadershipLost:
            raise
        except Exception:
            # A bug here must not stop the process that buys machines.
            metrics.crashes.inc()
            log.exception("could not check the certificates")
        else:
            told = _tell(done, told)
            metrics.count(done)
        await asyncio.sleep(INTERVAL)


def _tell(done: RoundDone, told: tuple[str, ...]) -> tuple[str, ...]:
    """Log what was written, and each problem once while it lasts."""
    for write in done.written:
        log.info("certificate written", step=type(write).__name__, object=subject_of(write))
    lines = done.problems + done.advice
    for line in lines:
        if line not in told:
            log.warning("certificates need help", reason=line)
    return lines


async def tend(objects: Objects, *, may_write: Callable[[], None]) -> RoundDone:
    """Run one round."""
    return await _Round(objects, may_write).end()


class _Round:
    """Reads and writes until nothing is due except what has failed."""

    def __init__(self, objects: Objects, may_write: Callable[[], None]) -> None:
        self._objects = objects
        self._may_write = may_write
        self._written: list[Write] = []
        self._failed: dict[str, str] = {}

    async def end(self) -> RoundDone:
        """Run until the end; returns the result of all turns."""
        try:
            found = await self._objects.read()
            for _ in range(MOST_TURNS):
                if not await self._turn(found):
                    break
                found = await self._objects.read()
        except LeadershipLost:
            raise
        except GrowthError as error:
            return RoundDone(tuple(self._written), (str(error),), (), None)
        return self._done(found)

    async def _turn(self, found: CertificatesFound) -> bool:
        """Write what is due; returns whether there was anything."""
        writes = due(found.state, policy=self._objects.policy, now=found.now)
        todo = [write for write in writes if subject_of(write) not in self._failed]
        for write in todo:
            self._may_write()
            await self._carry_out(write, found)
        return bool(todo)

    async def _carry_out(self, write: Write, found: CertificatesFound) -> None:
        try:
            await self._objects.carry_out(write, now=found.now)
        except DecideAgain:
            return
        except GrowthError as error:
            self._failed[subject_of(write)] = str(error)
        else:
            self._written.append(write)

    def _done(self, found: CertificatesFound) -> RoundDone:
        advised = advice(found.state, policy=self._objects.policy, now=found.now)
        # Two Secrets may have failed for the same reason.
        failures = tuple(dict.fromkeys(self._failed.values()))
        return RoundDone(tuple(self._written), failures, advised, found)
