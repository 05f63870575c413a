"""Row 32 of the catalogue of faults: the solver's process is killed, starved or out of memory.

Each question is answered all the same, by first-fit where it must be, with a plan that keeps every
rule; the next worker is there for the next question; and the loop that asks never stands still,
which is what the lease of a leader hangs on.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from benchmarks.workloads import catalogue, workload
from reconciler.effects import lane
from reconciler.effects.lane import Lane
from reconciler.solver import Effort, Plan, Problem, Stop
from reconciler.solver.model.framing import LENGTH
from tests.live import wait_until
from tests.solver.checker import complaints

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

RENEWED_WITHIN = 10.0
"""A leader that stands still for longer than this is close to losing its lease of 15 s."""


def crowd(count: int = 600, classes: int = 30, *, pods: str = "heavy") -> Problem:
    return workload(
        offers=catalogue("hetzner", 0),
        pods=pods,
        constraints="on",
        classes=classes,
        count=count,
        seed=1,
    )


@asynccontextmanager
async def working(*, seconds: float = 5.0) -> AsyncIterator[Lane]:
    """A lane with its worker, and the loop watched meanwhile."""
    one = Lane("demand", effort=Effort.QUICK, seconds=seconds)
    await one.warm_up()
    beats: list[float] = [monotonic()]
    heart = asyncio.create_task(_beat(beats))
    try:
        yield one
    finally:
        heart.cancel()
        await one.close()
    assert max((after - before for before, after in pairwise(beats)), default=0.0) < RENEWED_WITHIN


async def _beat(beats: list[float]) -> None:
    while True:
        await asyncio.sleep(0.02)
        beats.append(monotonic())


def pid_of(one: Lane) -> int:
    assert one._worker is not None
    return one._worker.pid


def is_first_fits(plan: Plan, problem: Problem) -> bool:
    """Valid, complete, and with nothing proven."""
    assert complaints(problem, plan) == []
    assert plan.unplaced == ()
    return (plan.bound, plan.cost) == (0, plan.first_fit_cost)


async def is_served_again(one: Lane, problem: Problem, *, lost: int) -> None:
    """Another worker is there before anybody asks, and it proves what it says."""
    assert pid_of(one) != lost
    plan = await one.solve(problem)
    assert complaints(problem, plan) == []
    assert plan.bound > 0
    assert plan.cost < plan.first_fit_cost


async def has_begun(pid: int) -> None:
    """The worker is at work on its question: it has used the processor since."""
    before = _used(pid)
    await asyncio.to_thread(wait_until, lambda: _used(pid) > before, "the worker begins")


def _used(pid: int) -> int:
    """Ticks of the processor in a process's own code."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


async def test_a_worker_that_is_killed_with_a_question_is_replaced() -> None:
    problem = crowd()
    async with working() as one:
        lost = pid_of(one)
        os.kill(lost, signal.SIGSTOP)  # or it may have answered by then
        asked = asyncio.ensure_future(one.solve(problem))
        await asyncio.sleep(0.2)
        os.kill(lost, signal.SIGKILL)
        assert is_first_fits(await asked, problem)
        await is_served_again(one, problem, lost=lost)


async def test_a_worker_that_is_killed_each_time_costs_each_question_only_its_proof() -> None:
    problem = crowd()
    async with working() as one:
        for _ in range(4):
            os.kill(pid_of(one), signal.SIGKILL)
            assert is_first_fits(await one.solve(problem), problem)
        await is_served_again(one, problem, lost=0)


async def test_a_worker_that_gets_no_processor_is_given_up_and_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = crowd()
    async with working() as one:
        lost = pid_of(one)
        os.kill(lost, signal.SIGSTOP)
        with monkeypatch.context() as short:
            short.setattr(lane, "PATIENCE", 0.5 - one._seconds)
            assert is_first_fits(await one.solve(problem), problem)
        await is_served_again(one, problem, lost=lost)


async def test_a_worker_that_stands_still_for_a_while_still_gives_its_own_answer() -> None:
    problem = crowd()
    async with working() as one:
        await one.solve(problem)
        pid = pid_of(one)
        asked = asyncio.ensure_future(one.solve(problem))
        await has_begun(pid)
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(1.0)
        os.kill(pid, signal.SIGCONT)
        plan = await asked
        assert complaints(problem, plan) == []
        assert plan.bound > 0
        assert pid_of(one) == pid


async def test_a_worker_for_whom_time_is_up_says_what_it_has() -> None:
    problem = crowd()
    async with working(seconds=0.0) as one:
        plan = await one.solve(problem)
        assert complaints(problem, plan) == []
        assert (plan.stop, plan.unplaced) == (Stop.CLOCK, ())


async def test_a_worker_that_runs_out_of_memory_is_replaced_and_the_loop_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lane, "MOST", 230 * 2**20)
    large = crowd(4000, 4000, pods="big")
    async with working() as one:
        lost = pid_of(one)
        assert is_first_fits(await one.solve(large), large)
        await is_served_again(one, crowd(), lost=lost)


async def test_the_worker_is_the_first_to_go_when_the_machine_has_no_memory() -> None:
    async with working() as one:
        await one.solve(crowd(10, 2))
        assert _oom_score(str(pid_of(one))) > _oom_score("self")


def _oom_score(pid: str) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


@pytest.mark.parametrize("heard", [0.5, 1.0], ids=["half a question", "a question"])
def test_a_worker_whose_asker_dies_ends_without_a_word(heard: float) -> None:
    question = pickle.dumps((crowd(20, 2), Effort.QUICK, 5.0))
    framed = LENGTH.pack(len(question)) + question
    command = [sys.executable, "-m", "reconciler.solver", str(2**32)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        assert worker.stderr is not None
        worker.stdout.close()
        worker.stdin.write(framed[: int(len(framed) * heard)])
        worker.stdin.close()
        assert worker.stderr.read() == b""
        assert worker.wait(timeout=60) == 0
