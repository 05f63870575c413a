"""Runs a proof: check repeatedly until a step is done or its time is up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.cli.doctor.proof.steps import Before
from growth.errors import GiveUp, RetryLater

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

    from growth.cli.doctor.proof.sight import ProofSight
    from growth.cli.doctor.proof.steps import ProofStep

EVERY: Final = 0.2
"""Seconds between two checks, which is also the precision of the times."""


class StepDone(msgspec.Struct, frozen=True, kw_only=True):
    """A completed step."""

    step: str
    text: str
    seconds: float


class Unproved(GiveUp):
    """A step that failed."""

    def __init__(self, step: str, text: str, hint: str) -> None:
        super().__init__(f"{step}: {text}")
        self.step, self.text, self.hint = step, text, hint


class ProofRun:
    """One run of all steps; its effects are passed in."""

    def __init__(
        self,
        *,
        pod: str,
        look: Callable[[str], Awaitable[ProofSight]],
        delete: Callable[[], Awaitable[None]],
        clock: Callable[[], float],
        pause: Callable[[float], Awaitable[None]],
        tell: Callable[[str], None],
    ) -> None:
        self._pod = pod
        self._look, self._delete = look, delete
        self._clock, self._pause, self._tell = clock, pause, tell
        self.machine = ""
        """The latest request, because a refused one is followed by another."""
        self._bound_to = ""

    async def run(self, steps: Iterable[ProofStep]) -> AsyncIterator[StepDone]:
        """Yield each step when it is done; raises `Unproved` at the first failure."""
        for step in steps:
            began = self._clock()
            if step.before is Before.DELETE_THE_POD:
                await self._delete()
            text = await self._reached(step, began)
            yield StepDone(step=step.name, text=text, seconds=round(self._clock() - began, 1))

    async def _reached(self, step: ProofStep, began: float) -> str:
        while True:
            sight = await self._seen()
            if sight is not None and (text := step.reached(sight)):
                return text
            if sight is not None and (why := step.impossible(sight)):
                raise self._unproved(step, why)
            waited = self._clock() - began
            if waited > step.seconds:
                kept = f"; the node is kept: {sight.kept}" if sight and sight.kept else ""
                text = f"waited {step.seconds:.0f} s for {step.awaited}{kept}"
                raise self._unproved(step, text)
            self._tell(f"waiting for {step.awaited}: {waited:.0f} s of at most {step.seconds:.0f}")
            await self._pause(EVERY)

    async def _seen(self) -> ProofSight | None:
        try:
            sight = await self._look(self._bound_to)
        except RetryLater:
            # Patience has its end, and until then the next look may be answered.
            return None
        if sight.request is not None:
            self.machine = sight.request.name
        if sight.pod is not None and sight.pod.spec.node_name:
            self._bound_to = sight.pod.spec.node_name
        return sight

    def _unproved(self, step: ProofStep, text: str) -> Unproved:
        hint = step.look_at.format(pod=self._pod, machine=self.machine or "NAME")
        return Unproved(step.name, text, hint)
