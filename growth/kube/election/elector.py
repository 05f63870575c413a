"""Runs work while we hold the Lease.

    async with lead(lease, who=who, settings=settings, metrics=metrics) as leadership:
        await work(leadership)

The block starts when we hold the Lease, and is cancelled when we lose it. However the block ends
(done, failed, cancelled by a signal), the Lease is renewed until the work has ended and is then
released. So a failure never leaves a leader that does nothing, and its error is raised unchanged.

Three things stop a leader at its deadline: each call has a timeout, a separate task watches the
deadline even if a call ignores its timeout, and `leadership.check()` reads the clock itself. The
last one is the fence: after a stopped process or a suspended machine continues, its timers are
late, so the check must come right before each call that costs money.

`lead_repeatedly` repeats this until it is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
from random import Random
from typing import TYPE_CHECKING, NoReturn

import structlog

from growth.clocks import wall_clock
from growth.kube.election.candidate import Candidate
from growth.kube.election.leadership import Leadership, LeadershipLost, boot_clock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from growth.kube.election.identity import Identity
    from growth.kube.election.metrics import ElectionMetrics
    from growth.kube.election.rule import Settings
    from growth.kube.election.server import LeaseOnServer

_log = structlog.get_logger(__name__)


@contextlib.asynccontextmanager
async def lead(
    lease: LeaseOnServer,
    *,
    who: Identity,
    settings: Settings,
    metrics: ElectionMetrics,
    clock: Callable[[], float] = boot_clock,
    wall: Callable[[], datetime] = wall_clock,
    chance: Random | None = None,
) -> AsyncIterator[Leadership]:
    """Wait for the Lease, hold it while the block runs, and release it."""
    candidate = Candidate(
        lease=lease,
        who=who,
        settings=settings,
        metrics=metrics,
        clock=clock,
        wall=wall,
        chance=chance or Random(),  # noqa: S311 - it spreads calls and protects nothing
    )
    try:
        with _bare_errors():
            async with asyncio.TaskGroup() as tasks:
                await _win(candidate, tasks)
                async with _kept(candidate, tasks):
                    yield Leadership(
                        candidate.seconds_left,
                        vacant_for=candidate.vacant_for,
                        annotations=candidate.annotations,
                    )
    finally:
        await candidate.give_back()


async def lead_repeatedly(
    leading: Callable[[], AbstractAsyncContextManager[Leadership]],
    work: Callable[[Leadership], Awaitable[None]],
) -> NoReturn:
    """Run `work` whenever we lead, and become a candidate again after a loss."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - tells mypy what a coroutine knows
    while not task.cancelling():
        try:
            async with leading() as leadership:
                await work(leadership)
        except LeadershipLost as lost:
            _log.warning("no longer leading", reason=str(lost))
    # A task group that is cancelled while one of its tasks fails raises only the failure.
    raise asyncio.CancelledError


async def _win(candidate: Candidate, tasks: asyncio.TaskGroup) -> None:
    listening = tasks.create_task(candidate.listen())
    await candidate.campaign()
    listening.cancel()


@contextlib.asynccontextmanager
async def _kept(candidate: Candidate, tasks: asyncio.TaskGroup) -> AsyncIterator[None]:
    """Renew until the work has really ended, also while it is being cancelled."""
    keepers = [
        tasks.create_task(candidate.renew()),
        tasks.create_task(candidate.watch_the_deadline()),
    ]
    try:
        yield
    finally:
        for keeper in keepers:
            keeper.cancel()
        # The tasks aren't left to the group: if one fails while the group only waits, Python 3.11
        # leaves a stray cancellation behind.
        await asyncio.wait(keepers)


@contextlib.contextmanager
def _bare_errors() -> Iterator[None]:
    """Raise the error that matters itself, not the exception group of the task group."""
    try:
        yield
    except BaseExceptionGroup as group:
        error = _what_counts(group)
        raise error from error.__cause__


def _what_counts(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure of the work or, if there is none, the loss of the leadership."""
    # Both keepers may raise the loss, so it may be in the group twice.
    failures = [error for error in group.exceptions if not _is_a_loss(error)]
    match failures:
        case []:
            return _first(group)
        case [failure]:
            return failure
        case _:
            return group


def _is_a_loss(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return error.split(LeadershipLost)[1] is None
    return isinstance(error, LeadershipLost)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
