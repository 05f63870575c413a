"""The loop: see, decide, carry out; again when something has changed, or after a while.

At most one pass runs at a time, and all of its sequences end before the next world is made. So
there is one writer, and no cluster has two sequences.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final, Protocol

import structlog

from fleet.core.world import FleetUnseen
from fleet.effects.carrying_out import SequenceOutcome, carry_out_sequence
from fleet.passes import fleet_pass

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from fleet.core.actions import FleetAction
    from fleet.core.world import FleetWorld

INTERVAL: Final = 15.0
"""Seconds after which a pass begins although nothing has changed: deadlines pass by themselves."""
QUIET: Final = 0.5
"""Seconds between two passes, in which further changes are collected."""

_log = structlog.get_logger(__name__)


class FleetPort(Protocol):
    """What a loop acts on: an API server, or a simulated one."""

    def see(self) -> FleetWorld:
        """The world of this moment. `FleetUnseen` if not all of it is known."""
        ...

    async def do(self, action: FleetAction) -> None:
        """Carry out one action."""
        ...

    async def finish(self) -> None:
        """End a pass, and tell what has become of it."""
        ...


class FleetLoop:
    """Decides about a fleet, pass by pass."""

    def __init__(self, port: FleetPort, *, now: Callable[[], datetime]) -> None:
        self._port = port
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
            except FleetUnseen as unseen:
                _log.info("waiting to see the whole fleet", reason=str(unseen))
            await asyncio.sleep(QUIET)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), INTERVAL)
            self._changed.clear()

    async def pass_once(self) -> tuple[SequenceOutcome, ...]:
        """One pass, with everything that it decides."""
        sequences = fleet_pass(self._port.see(), self._now())
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(carry_out_sequence(each, self._port.do)) for each in sequences
            ]
        outcomes = tuple(each.result() for each in running)
        for outcome in outcomes:
            _tell(outcome)
        await self._port.finish()
        return outcomes


def _tell(outcome: SequenceOutcome) -> None:
    for action in outcome.done:
        _log.info("carried out", action=str(action))
    if outcome.error is not None:
        _log.warning("could not carry out a sequence", reason=str(outcome.error))
