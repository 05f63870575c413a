"""A renewal is asked of a worker as a problem is; where none answers, nothing goes."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

from reconciler.effects.lane import Lane
from reconciler.solver import Effort
from reconciler.solver.renewal.renew import renew, unchanged
from tests.solver.test_renew import asked, pod

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

QUESTION = asked(("a", 10, 2, {"web": 2}), ("b", 10, 2, {"web": 2}), web=pod())


@pytest.fixture
async def lane() -> AsyncIterator[Lane]:
    made = Lane("replacement", effort=Effort.QUICK, seconds=5.0)
    yield made
    await made.close()


def pid_of(lane: Lane) -> int:
    assert lane._worker is not None
    return lane._worker.pid


async def test_a_worker_says_what_goes_and_still_answers_problems(lane: Lane) -> None:
    assert await lane.solve(QUESTION) == renew(QUESTION, Effort.QUICK)
    assert (await lane.solve(QUESTION.problem)).unplaced == ()


async def test_nothing_goes_when_the_worker_is_lost(lane: Lane) -> None:
    await lane.solve(QUESTION)
    lost = pid_of(lane)
    os.kill(lost, signal.SIGSTOP)  # or it may have answered by then
    answer = asyncio.ensure_future(lane.solve(QUESTION))
    await asyncio.sleep(0.05)
    os.kill(lost, signal.SIGKILL)
    assert await answer == unchanged(QUESTION)
    assert len((await lane.solve(QUESTION)).goes) == 1
