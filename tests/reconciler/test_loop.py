"""When the loop makes a pass: soon after a change, once for many, and when it was asked to."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from reconciler import removal
from reconciler.core.actions import Sequence, machine
from reconciler.core.decision import NEVER, Decision
from reconciler.core.timing import Timing
from reconciler.loop import BRAKES, ROOMS, Loop, Room, chosen, decide, remembers_nothing
from tests.reconciler.build import at, world

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.invariants.breach import Breach
    from reconciler.ledger import Ledger
    from reconciler.planning.ledger import PlanningLedger

pytestmark = pytest.mark.looptime
PAUSE = 0.01


class Stage:
    """A scene in which nothing is ever carried out; its one room asks to be asked at a moment."""

    def __init__(self, *, due: float = NEVER) -> None:
        self._due = due
        self._seen = world(timing=Timing(stable_interval=0.0))
        self.passes: list[float] = []
        self.loop = Loop(
            self,
            ledger=self._seen.ledger,
            rooms=(Room("planning", self.decide, remembers_nothing),),
        )

    def decide(self, _world: World, now: Instant) -> Decision[None]:
        self.passes.append(round(now.monotonic, 4))
        return Decision(section=None, wake_at=self._due if self._due > now.monotonic else NEVER)

    def now(self) -> Instant:
        return at(asyncio.get_running_loop().time())

    def world(self, _ledger: Ledger) -> World:
        return self._seen

    def start(self, sequence: Sequence) -> None:
        raise AssertionError(f"nothing was decided that could be {sequence.why}")

    def stop(self, breach: Breach) -> None:
        raise AssertionError(f"nothing was decided that could break {breach.invariant}")

    def tell(self, failing: Iterable[str]) -> None:
        raise AssertionError(f"nothing is poison here: {list(failing)}")

    async def play(self, *changes: float) -> list[float]:
        """Let things change at some moments; the answer is when passes were made."""
        clock = asyncio.get_running_loop()
        for moment in changes:
            clock.call_at(moment, self.loop.wake)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(1.0):
                await self.loop.run(coalesce=PAUSE)
        return self.passes


async def test_many_changes_are_one_pass() -> None:
    assert await Stage().play(0.5, 0.501, 0.502, 0.503) == [0.0, 0.5, 0.51]


async def test_a_change_right_after_a_pass_waits_for_the_pause() -> None:
    assert await Stage().play(0.004) == [0.0, PAUSE]


async def test_what_is_due_at_a_moment_is_looked_at_then() -> None:
    assert await Stage(due=0.25).play() == [0.0, 0.25]


async def test_what_is_due_isnt_late_for_a_change_just_before() -> None:
    assert await Stage(due=0.25).play(0.248) == [0.0, 0.248, 0.25]


def about(name: str, why: str) -> Sequence:
    return Sequence(subject=machine(name), steps=(), why=why)


def test_of_several_sequences_about_one_subject_the_first_that_may_begin_does() -> None:
    wanted = [
        about("a", "first"),
        about("busy", "first"),
        about("b", "first"),
        about("a", "second"),
    ]
    found = chosen(wanted, world(busy=frozenset({machine("busy")})))
    assert [(each.subject.name, each.why) for each in found] == [("a", "first"), ("b", "first")]


def test_what_an_earlier_room_wants_with_a_subject_comes_first() -> None:
    def wanting(why: str) -> Room[None]:
        decision = Decision(section=None, sequences=(about("a", why),))
        return Room(why, lambda _world, _now: decision, remembers_nothing)

    seen = world(timing=Timing(stable_interval=0.0))
    outcome = decide(seen, at(100), (wanting("one room"), wanting("another")))
    assert [each.why for each in outcome.sequences] == ["one room"]


def test_each_room_stores_its_own_section_of_the_ledger() -> None:
    seen = world()
    rooms: Iterable[Room[Any]] = (BRAKES, *ROOMS)
    for room in rooms:
        after = room.asked(seen, at(100))[1].ledger
        sections = [each.name for each in fields(after)]
        changed = {
            name for name in sections if _section(after, name) != _section(seen.ledger, name)
        }
        assert changed <= {room.name}


def _section(ledger: Ledger, name: str) -> object:
    return getattr(ledger, name)


def test_a_rule_with_a_memory_of_another_type_is_no_room() -> None:
    """It is mypy that refuses: it fails where this error isn't found."""
    Room("removal", removal.decide, _stores_planning)  # type: ignore[misc]


def _stores_planning(ledger: Ledger, section: PlanningLedger) -> Ledger:
    return replace(ledger, planning=section)
