"""A lane: one solver process, kept warm, and replaced when it dies, grows too large or hangs.

Whatever happens to the worker, every question gets an answer: if the worker fails, first-fit
answers, which proves no bound but obeys every rule, while the next worker starts. A worker's memory
is limited, and if memory runs out the kernel kills it first, not the leading process. If a question
is cancelled, its worker is ended too, because no one would read the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import sys
from typing import TYPE_CHECKING, overload

import structlog

from reconciler.solver import Offer, PodClass, Problem
from reconciler.solver.model.framing import LENGTH

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from reconciler.solver import Effort, Plan, Renewal, Renewed

_log = structlog.get_logger(__name__)

PATIENCE = 10.0
"""Seconds for a question, in addition to the solver's own time limit."""
LARGEST = 600 * 2**20
"""Bytes; a worker that has grown beyond this is replaced after its answer."""
MOST = 2**30
"""The most bytes that a worker may have; it dies if it allocates more."""


_TYPES = frozenset({"small", "large"})
EASY = Problem(
    resources=("cpu", "memory"),
    offers=(
        Offer(name="small", capacity=(4, 8), price=10),
        Offer(name="large", capacity=(9, 15), price=21),
    ),
    classes=(
        PodClass(name="wide", requests=(3, 2), count=7, offers=_TYPES),
        PodClass(name="deep", requests=(2, 5), count=5, offers=_TYPES),
    ),
)
"""Small, and no rule of thumb answers it: every engine is loaded for it."""


class WorkerLost(Exception):
    """The worker process died, hung or returned an unreadable answer."""


class Lane:
    """One worker, asked one question at a time."""

    def __init__(self, name: str, *, effort: Effort, seconds: float) -> None:
        self.name = name
        self._effort = effort
        self._seconds = seconds
        self._worker: Process | None = None

    async def warm_up(self) -> None:
        """Lets a worker answer once, so that the first plan needn't wait for engines to load."""
        await self.solve(EASY)

    @overload
    async def solve(self, question: Problem) -> Plan: ...
    @overload
    async def solve(self, question: Renewal) -> Renewed: ...
    async def solve(self, question: Problem | Renewal) -> Plan | Renewed:
        """The worker's answer, or that of first-fit if no worker answers."""
        try:
            if self._worker is None:
                self._worker = await _started()
            return await self._ask(question)
        except asyncio.CancelledError:
            # A worker that is at work reads no further question, and its answer would be taken for
            # the next one's.
            await self.close()
            raise
        except (OSError, WorkerLost) as error:
            _log.warning("the solver's worker was lost", lane=self.name, error=str(error))
            await self.close()
            with contextlib.suppress(OSError):
                self._worker = await _started()
            return await asyncio.to_thread(_at_once, question)

    async def close(self) -> None:
        """End the worker; the next question starts another."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        with contextlib.suppress(ProcessLookupError):
            worker.kill()
        if worker.stdin is not None:
            worker.stdin.close()
        await worker.wait()

    async def _ask(self, question: Problem | Renewal) -> Plan | Renewed:
        worker = self._worker
        if worker is None or worker.stdin is None or worker.stdout is None:
            raise WorkerLost("it has no pipes")
        words = pickle.dumps((question, self._effort, self._seconds))
        try:
            async with asyncio.timeout(self._seconds + PATIENCE):
                worker.stdin.write(LENGTH.pack(len(words)) + words)
                await worker.stdin.drain()
                header = await worker.stdout.readexactly(LENGTH.size)
                answer = await worker.stdout.readexactly(LENGTH.unpack(header)[0])
        except TimeoutError:
            raise WorkerLost("it hung") from None
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise WorkerLost(f"it died with exit code {worker.returncode}") from error
        plan: Plan | Renewed
        plan, grown = pickle.loads(answer)  # noqa: S301 - our own child's words
        if grown > LARGEST:
            _log.info("the solver's worker has grown", lane=self.name, bytes=grown)
            await self.close()
        return plan


async def _started() -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        # -P, or a folder of this name in the working directory would be run instead.
        "-P",
        "-m",
        "reconciler.solver",
        str(MOST),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # A question uses one core; threads of the numeric libraries would only slow it down.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )


def _at_once(question: Problem | Renewal) -> Plan | Renewed:
    # Imported here, because the loop's process normally doesn't need the engine.
    from reconciler.solver.answering import answered_at_once  # noqa: PLC0415

    return answered_at_once(question)
