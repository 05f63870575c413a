"""A candidate: it carries out the steps that the rule decides, and records the answers."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from functools import partial
from typing import TYPE_CHECKING, NoReturn, assert_never

import structlog

from growth.errors import DecideAgain, GrowthError, Misconfigured, RetryLater
from growth.kube.election.leadership import LeadershipLost
from growth.kube.election.lease import seconds_without_a_leader
from growth.kube.election.rule import (
    CreateLease,
    HoldLease,
    LeadershipLoss,
    ReadLease,
    StepDown,
    Wait,
    leads_until,
    next_step,
)
from growth.kube.election.standing import (
    LeaseView,
    after_failure,
    after_hint,
    after_hold,
    after_look,
    after_loss,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime
    from random import Random

    from growth.kube.election.identity import Identity
    from growth.kube.election.lease import Lease
    from growth.kube.election.metrics import ElectionMetrics
    from growth.kube.election.rule import Settings
    from growth.kube.election.server import LeaseOnServer

log = structlog.get_logger()


@dataclasses.dataclass
class Candidate:
    """A candidate and its view of the Lease."""

    lease: LeaseOnServer
    who: Identity
    settings: Settings
    metrics: ElectionMetrics
    clock: Callable[[], float]
    wall: Callable[[], datetime]
    chance: Random
    standing: LeaseView = dataclasses.field(default_factory=LeaseView)
    heard: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)
    tried: bool = False
    vacant_for: float = 0.0
    """The seconds without a leader before we led."""
    annotations: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The annotations of the Lease before we led."""

    def __post_init__(self) -> None:
        self._log = log.bind(lease=self.lease.title, identity=self.who.text)

    def seconds_left(self) -> float:
        """The seconds until the leadership ends if no further renewal succeeds."""
        return leads_until(self.standing, self.settings) - self.clock()

    async def listen(self) -> None:
        """Wake up when the Lease is released. Without this, the next regular read notices it."""
        while True:
            with contextlib.suppress(GrowthError):
                async for _ in self.lease.releases():
                    self.heard.set()
            await asyncio.sleep(self._pause())

    async def campaign(self) -> None:
        """Wait until we lead."""
        while self.seconds_left() <= 0:
            # The answer to our write may arrive after the deadline that counts from its start.
            self.standing = after_loss(self.standing)
            await self._step()
        self.metrics.leading.set(1)
        self._log.info("became the leader")

    async def renew(self) -> None:
        """Renew the Lease until it is lost."""
        while True:
            await self._step()

    async def watch_the_deadline(self) -> None:
        """End the leadership at the deadline, even if a call hangs and can't be cancelled."""
        while (left := self.seconds_left()) > 0:  # noqa: ASYNC110 - it is moved on by renewals
            await asyncio.sleep(left)
        self._lose(LeadershipLoss.DEADLINE)

    async def give_back(self) -> None:
        """Release the Lease so that the others don't have to wait; if it fails, they wait."""
        self.standing = after_loss(self.standing)
        self.metrics.leading.set(0)
        # The last write may have succeeded although its answer was lost, so the Lease is read
        # again. If we never tried to take it, there is nothing to release.
        if not self.tried:
            return
        try:
            async with asyncio.timeout(self.settings.call_timeout):
                await self._release()
        except (GrowthError, TimeoutError) as error:
            self._log.warning("could not release the Lease", error=_reason(error))

    async def _release(self) -> None:
        lease = await self.lease.read()
        if lease is not None and lease.spec.holder_identity == self.who.text:
            await self.lease.release(lease, now=self.wall())
            self._log.info("released the Lease")

    async def _step(self) -> None:
        step = next_step(self.standing, who=self.who, settings=self.settings, now=self.clock())
        match step:
            case ReadLease():
                await self._call(self._look)
            case CreateLease():
                await self._call(self._make)
            case HoldLease(lease):
                await self._call(partial(self._hold, lease))
            case Wait(until):
                await self._wait(until)
            case StepDown(loss):
                self._lose(loss)
            case _:
                assert_never(step)

    async def _wait(self, until: float) -> None:
        # At least a millisecond: the loop's clock and ours differ in the last digits.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(until - self.clock(), 0.001)):
                await self.heard.wait()
            self.heard.clear()
            self.standing = after_hint(self.standing)

    async def _look(self, started: float) -> None:
        self._saw(await self.lease.read(), started=started)

    async def _make(self, started: float) -> None:
        duration = self.settings.lease_duration
        self._saw(await self.lease.make(duration=duration, now=self.wall()), started=started)

    def _saw(self, lease: Lease | None, *, started: float) -> None:
        ended, next_call = self.clock(), started + self._pause()
        self._tell_of_another(lease)
        self.standing = after_look(self.standing, lease, ended=ended, next_call=next_call)

    async def _hold(self, seen: Lease, started: float) -> None:
        self.tried = True
        if not self._leads:
            self.vacant_for = seconds_without_a_leader(seen, self.wall())
            self.annotations = seen.metadata.annotations
        lease = await self.lease.hold(
            seen,
            holder=self.who.text,
            duration=self.settings.lease_duration,
            now=self.wall(),
        )
        ended, next_call = self.clock(), started + self._pause()
        self.standing = after_hold(
            self.standing, lease, started=started, ended=ended, next_call=next_call
        )
        self.metrics.transitions.set(lease.spec.lease_transitions or 0)

    async def _call(self, call: Callable[[float], Awaitable[None]]) -> None:
        started = self.clock()
        limit = self.settings.call_timeout
        try:
            async with asyncio.timeout(min(limit, self.seconds_left()) if self._leads else limit):
                await call(started)
        except (GrowthError, TimeoutError) as error:
            # Missing permissions may be temporary. If no call ever worked, the setup is wrong, and
            # the process ends with the error.
            if isinstance(error, Misconfigured) and self.standing.lease is None:
                raise
            self._failed(error, started=started)

    def _failed(self, error: GrowthError | TimeoutError, *, started: float) -> None:
        self._log.warning("a request for the Lease failed", error=_reason(error), leads=self._leads)
        if self._leads:
            self.metrics.renew_failures.inc()
        self.standing = after_failure(self.standing, next_call=started + self._pause_after(error))

    def _pause(self) -> float:
        """A random wait below `retry`, so that each change is seen within that time."""
        return self.settings.retry * self.chance.uniform(0.6, 0.9)

    def _pause_after(self, error: GrowthError | TimeoutError) -> float:
        if self._leads and isinstance(error, DecideAgain):
            return 0  # The Lease was changed: a leader must find out at once who holds it now.
        asked = error.after if isinstance(error, RetryLater) and error.after else 0
        limit = self.settings.renew_deadline / 4 if self._leads else self.settings.lease_duration
        return max(self._pause(), min(asked, limit))

    def _lose(self, loss: LeadershipLoss) -> NoReturn:
        self.standing = after_loss(self.standing)
        self.metrics.leading.set(0)
        self._log.error("lost the leadership", reason=loss.value)
        raise LeadershipLost(f"Lease {self.lease.title}: {loss.value}")

    def _tell_of_another(self, lease: Lease | None) -> None:
        before = self.standing.lease and self.standing.lease.spec.holder_identity
        holder = lease and lease.spec.holder_identity
        if holder != self.who.text and (holder != before or self.standing.unchanged_since is None):
            self._log.info("waiting for the Lease", holder=holder)

    @property
    def _leads(self) -> bool:
        return self.standing.renewed_at is not None


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
