"""The loop of a process that keeps things as they should be: see, decide, carry out, again.

A pass begins when something has changed, or after a while. At most one runs at a time, and all of
its sequences end before the next world is made. So there is one writer, and nothing has two
sequences.

A failure ends its own sequence only. Nothing is undone and nothing is remembered: the next pass
decides on what is there then.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

import structlog

from growth.errors import GrowthError, WorldUnseen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

WorldT = TypeVar("WorldT")
Seen_co = TypeVar("Seen_co", covariant=True)
ActionT = TypeVar("ActionT")
Done_contra = TypeVar("Done_contra", contravariant=True)

INTERVAL: Final = 15.0
"""Seconds after which a pass begins although nothing has changed: deadlines pass by themselves."""
QUIET: Final = 0.5
"""Seconds between two passes, in which further changes are collected."""

_log = structlog.get_logger(__name__)


class PassPort(Protocol[Seen_co, Done_contra]):
    """What a loop acts on: an API server, or a simulated one."""

    def see(self) -> Seen_co:
        """The world of this moment. `WorldUnseen` if not all of it is known."""
        ...

    async def do(self, action: Done_contra) -> None:
        """Carry out one action."""
        ...

    async def finish(self) -> None:
        """End a pass, and tell what has become of it."""
        ...


@dataclass(frozen=True)
class SequenceOutcome(Generic[ActionT]):
    """What of a sequence was done, and what ended it."""

    done: tuple[ActionT, ...]
    error: GrowthError | None = None


async def carry_out_sequence(
    sequence: tuple[ActionT, ...], do: Callable[[ActionT], Awaitable[None]]
) -> SequenceOutcome[ActionT]:
    """Do one action after another, up to the first that fails."""
    done: list[ActionT] = []
    for action in sequence:
        try:
            await do(action)
        except GrowthError as error:
            return SequenceOutcome(tuple(done), error)
        done.append(action)
    return SequenceOutcome(tuple(done))


class PassLoop(Generic[WorldT, ActionT]):
    """Decides pass by pass."""

    def __init__(
        self,
        port: PassPort[WorldT, ActionT],
        *,
        decide: Callable[[WorldT, datetime], tuple[tuple[ActionT, ...], ...]],
        now: Callable[[], datetime],
    ) -> None:
        """`decide` is a pure function from a world and a time to sequences of actions."""
        self._port = port
        self._decide = decide
        self._now = now
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Begin the next pass soon."""
        self._changed.set()

    async def run(self) -> None:
        """Run passes until cancelled."""
        while True:
            try:
                await self.pass_once()
            except WorldUnseen as unseen:
                _log.info("waiting to see everything", reason=str(unseen))
            await asyncio.sleep(QUIET)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), INTERVAL)
            self._changed.clear()

    async def pass_once(self) -> tuple[SequenceOutcome[ActionT], ...]:
        """One pass, with everything that it decides."""
        sequences = self._decide(self._port.see(), self._now())
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(carry_out_sequence(each, self._port.do)) for each in sequences
            ]
        outcomes = tuple(each.result() for each in running)
        for outcome in outcomes:
            _tell(outcome)
        await self._port.finish()
        return outcomes


def _tell(outcome: SequenceOutcome[ActionT]) -> None:
    for action in outcome.done:
        _log.info("carried out", action=str(action))
    if outcome.error is not None:
        _log.warning("could not carry out a sequence", reason=str(outcome.error))
