"""Two workers: what pods wait for comes before what would only be cheaper."""

from __future__ import annotations

import asyncio

import pytest

from growth.errors import DecideAgain
from reconciler import planning, replacement
from reconciler.core.actions import Solve
from reconciler.effects.lane import EASY
from reconciler.effects.lanes import Lanes
from reconciler.solver import Plan

DEMAND = Solve(lane=planning.LANE, number=1, problem=EASY)
CHEAPER = Solve(lane=replacement.LANE, number=1, problem=EASY)


async def test_a_question_of_replacement_is_stopped_when_demand_appears() -> None:
    lanes = Lanes()
    try:
        asked = asyncio.ensure_future(lanes.answer(CHEAPER))
        await asyncio.sleep(0)
        plan = await lanes.answer(DEMAND)
        assert isinstance(plan, Plan)
        assert not plan.unplaced
        with pytest.raises(DecideAgain, match="demand comes first"):
            await asked
        assert isinstance(await lanes.answer(CHEAPER), Plan)
    finally:
        await lanes.close()


async def test_who_stops_a_question_and_is_cancelled_asks_no_other_one() -> None:
    lanes = Lanes()
    try:
        stopped = asyncio.ensure_future(lanes.answer(CHEAPER))
        await asyncio.sleep(0)
        asked = asyncio.ensure_future(lanes.answer(DEMAND))
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        with pytest.raises(DecideAgain):
            await stopped
    finally:
        await lanes.close()
