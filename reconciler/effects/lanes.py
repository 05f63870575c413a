"""The lanes: one for demand, and one for replacement, which is stopped when demand appears.

They are two processes, so neither waits for the other's answer. But on a small machine they share a
core, and pods that wait for a node come before savings. The worker of replacement starts with its
first question, because most of the time there is none. So does that of pools that only observe.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from growth.errors import DecideAgain
from reconciler import observing, planning, replacement
from reconciler.effects.lane import Lane
from reconciler.solver import Effort

if TYPE_CHECKING:
    from reconciler.core.actions import Solve
    from reconciler.solver import Plan, Problem, Renewal, Renewed

SOLVE_SECONDS = 5.0
"""The solver's own effort limit ends a solve long before; this is only for a stalled machine."""
SEARCH_SECONDS = 3.5
"""The same for what may go: with the start of the worker, and the proof, that is decided within
five."""


class Lanes:
    """The solver's workers."""

    def __init__(self) -> None:
        self.demand = Lane(planning.LANE, effort=Effort.QUICK, seconds=SOLVE_SECONDS)
        self.replacement = Lane(replacement.LANE, effort=Effort.QUICK, seconds=SEARCH_SECONDS)
        self.observing = Lane(observing.LANE, effort=Effort.QUICK, seconds=SOLVE_SECONDS)
        self._asked: asyncio.Task[Plan | Renewed] | None = None
        """What the lane of replacement is at work on."""

    async def warm_up(self) -> None:
        """Let the worker that pods wait for load its engines."""
        await self.demand.warm_up()

    async def close(self) -> None:
        """End the workers."""
        await self.demand.close()
        await self.replacement.close()
        await self.observing.close()

    async def answer(self, question: Solve) -> Plan | Renewed:
        """The worker's answer; `DecideAgain` if it was stopped for something more urgent."""
        if question.lane == self.demand.name:
            await self._stop()
            return await self.demand.solve(question.stated)
        if question.lane == self.observing.name:
            return await self.observing.solve(question.stated)
        self._asked = asyncio.ensure_future(self._search(question))
        try:
            return await asyncio.shield(self._asked)
        except asyncio.CancelledError:
            if not self._asked.cancelled():
                # The caller itself was cancelled, not only the question.
                await self._stop()
                raise
            raise DecideAgain("demand comes first") from None
        finally:
            self._asked = None

    async def _search(self, question: Solve) -> Plan | Renewed:
        # In a large cluster, stating the search takes seconds; in a thread, passes go on meanwhile.
        return await self.replacement.solve(await asyncio.to_thread(_stated, question))

    async def _stop(self) -> None:
        asked = self._asked
        if asked is not None:
            asked.cancel()
            # `wait` tells the end of the task from a cancellation of this caller.
            await asyncio.wait([asked])


def _stated(question: Solve) -> Problem | Renewal:
    return question.stated
