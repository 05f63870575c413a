"""Leading while a Lease is ours: the shell around the rule.

    async with lead(lease, who=who, settings=settings, metrics=metrics) as leadership:
        await work(leadership)

The block is entered when the Lease is ours and is cancelled when it is lost. However it ends (done,
failed, cancelled by a signal) the Lease is kept until the work has ended and then given back, so a
failure of the work never leaves a leader that does nothing, and its error comes out as it is.

Three things keep a leader from outliving its promise: each call has a timeout, a separate task
watches the deadline even if a call ignores its timeout, and `leadership.check()` compares the clock
itself. The last one is the fence: a process that was stopped or a machine that slept wakes up with
its timers late, and must ask before each call that costs money.

`lead_for_ever` does so again and again, until it is cancelled.
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
    """Wait for the Lease, lead while the block runs, and give it back."""
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
                    yield Leadership(candidate.seconds_left, vacant_for=candidate.vacant_for)
    finally:
        await candidate.give_back()


async def lead_for_ever(
    leading: Callable[[], AbstractAsyncContextManager[Leadership]],
    work: Callable[[Leadership], Awaitable[None]],
) -> NoReturn:
    """Work whenever we lead, and stand again when that has ended."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - tells mypy what a coroutine knows
    while not task.cancelling():
        try:
            async with leading() as leadership:
                await work(leadership)
        except LeadershipLost as lost:
            _log.warning("no longer leading", reason=str(lost))
    # A group whose task fails while it is being cancelled tells the failure only.
    raise asyncio.CancelledError


async def _win(candidate: Candidate, tasks: asyncio.TaskGroup) -> None:
    listening = tasks.create_task(candidate.listen())
    await candidate.campaign()
    listening.cancel()


@contextlib.asynccontextmanager
async def _kept(candidate: Candidate, tasks: asyncio.TaskGroup) -> AsyncIterator[None]:
    """Renewing goes on until the work has really ended, also while it is being cancelled."""
    keepers = [
        tasks.create_task(candidate.renew()),
        tasks.create_task(candidate.watch_the_deadline()),
    ]
    try:
        yield
    finally:
        for keeper in keepers:
            keeper.cancel()
        # Not left to the group: of a task that fails while its group only waits, Python 3.11 leaves
        # a cancellation behind that nobody has asked for.
        await asyncio.wait(keepers)


@contextlib.contextmanager
def _bare_errors() -> Iterator[None]:
    """A task group wraps what it raises; here the error that counts comes out as itself."""
    try:
        yield
    except BaseExceptionGroup as group:
        error = _what_counts(group)
        raise error from error.__cause__


def _what_counts(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure of the work, else the loss of the leadership, of which both keepers may tell."""
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
