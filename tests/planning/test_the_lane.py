"""The solver's worker process may die, hang or grow: every question is answered."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconciler.effects import lane
from reconciler.effects.lane import Lane
from reconciler.solver import Effort, Offer, PodClass, Problem, Stop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PROBLEM = Problem(
    resources=("cpu",),
    classes=(PodClass(name="web", requests=(1,), count=4, offers=frozenset({"small", "large"})),),
    offers=(
        Offer(name="small", capacity=(1,), price=10),
        Offer(name="large", capacity=(4,), price=30),
    ),
)


@pytest.fixture
async def worker() -> AsyncIterator[Lane]:
    made = Lane("demand", effort=Effort.QUICK, seconds=5.0)
    await made.warm_up()
    yield made
    await made.close()


def pid_of(one: Lane) -> int:
    assert one._worker is not None
    return one._worker.pid


def loaded_by(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


async def test_a_question_is_answered_with_a_proven_plan(worker: Lane) -> None:
    plan = await worker.solve(PROBLEM)
    assert (plan.cost, plan.bound, plan.stop) == (30, 30, Stop.PROVEN)


async def test_a_warm_worker_has_loaded_its_engines_before_the_first_question(
    worker: Lane,
) -> None:
    assert "ortools" in loaded_by(pid_of(worker))


async def test_one_worker_answers_many_questions(worker: Lane) -> None:
    before = pid_of(worker)
    assert [(await worker.solve(PROBLEM)).cost for _ in range(5)] == [30] * 5
    assert pid_of(worker) == before


async def test_the_worker_is_growths_own_whatever_lies_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reconciler").mkdir()
    (tmp_path / "reconciler" / "__init__.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    worker = Lane("demand", effort=Effort.QUICK, seconds=5.0)
    try:
        assert (await worker.solve(PROBLEM)).stop is Stop.PROVEN
    finally:
        await worker.close()


async def test_first_fit_answers_for_a_worker_that_was_killed_and_the_next_one_again(
    worker: Lane,
) -> None:
    before = pid_of(worker)
    os.kill(before, signal.SIGKILL)
    plan = await worker.solve(PROBLEM)
    assert (plan.unplaced, plan.bound) == ((), 0)
    again = await worker.solve(PROBLEM)
    assert again.stop is Stop.PROVEN
    assert pid_of(worker) != before


async def test_first_fit_answers_for_a_worker_that_hangs(
    worker: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "PATIENCE", 0.5)
    worker._seconds = 0.0
    os.kill(pid_of(worker), signal.SIGSTOP)
    plan = await worker.solve(PROBLEM)
    assert (plan.unplaced, plan.bound) == ((), 0)


async def test_a_worker_that_has_grown_too_large_is_replaced_after_its_answer(
    worker: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pid_of(worker)
    monkeypatch.setattr(lane, "LARGEST", 1)
    assert (await worker.solve(PROBLEM)).stop is Stop.PROVEN
    monkeypatch.undo()
    await worker.warm_up()
    assert pid_of(worker) != before


async def test_a_question_that_is_given_up_ends_its_worker(worker: Lane) -> None:
    before = pid_of(worker)
    os.kill(before, signal.SIGSTOP)
    asked = asyncio.ensure_future(worker.solve(PROBLEM))
    await asyncio.sleep(0.05)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
