"""The rule in a world of delays, losses, freezes, deaths and meddling people.

At no time may two candidates believe that they lead. A state machine searches for a short story
that breaks this; a long random walk meets the rare ones.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.election.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

numbers = st.integers(0, 2)
# Around every limit of the rule: the pace, the call's timeout, the deadline, the duration.
DURATIONS = (0.001, 0.5, 1.5, 4.9, 5.1, 9.9, 10.1, 14.9, 15.1)
JUMPS = (-3600, -1e-6, 1e-6, 3600)


class Election(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World()

    @initialize(installed=st.booleans())
    def the_lease_may_be_installed(self, *, installed: bool) -> None:
        if installed:
            self.world.server.install()

    @rule(seconds=st.sampled_from(DURATIONS))
    def time_passes(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    @rule(seconds=st.sampled_from(JUMPS))
    def the_wall_clock_jumps(self, seconds: float) -> None:
        self.world.jump_the_wall_clock(seconds)

    @rule(number=numbers)
    def a_call_goes_through(self, number: int) -> None:
        self.world.let_a_call_through(number)

    @rule(number=numbers)
    def a_candidate_acts(self, number: int) -> None:
        self.world.act(number)

    @rule(place=numbers)
    def the_server_carries_out_a_request(self, place: int) -> None:
        self.world.carry_out(place)

    @rule(number=numbers)
    def an_answer_arrives(self, number: int) -> None:
        self.world.answer(number)

    @rule(number=numbers)
    def a_call_times_out(self, number: int) -> None:
        self.world.time_a_call_out(number)

    @rule(number=numbers)
    def a_candidate_is_killed(self, number: int) -> None:
        self.world.kill_and_restart(number)

    @rule(number=numbers)
    def a_candidate_stops_cleanly(self, number: int) -> None:
        self.world.stop_cleanly(number)

    @rule()
    def somebody_deletes_the_lease(self) -> None:
        self.world.server.delete()

    @rule()
    def somebody_labels_the_lease(self) -> None:
        self.world.server.label()

    @rule()
    def somebody_erases_the_holder(self) -> None:
        self.world.server.erase_the_holder()

    @invariant()
    def never_two_lead(self) -> None:
        assert len(self.world.leaders()) <= 1, self.world.leaders()


Election.TestCase.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
TestElection = Election.TestCase


def walk(seed: int, *, steps: int) -> int:
    """How often the leader changed; the walk ends at two leaders."""
    chance, world, changes, last = Random(seed), World(), 0, ""
    if chance.random() < 0.5:
        world.server.install()
    for _ in range(steps):
        happen(world, chance)
        leaders = world.leaders()
        assert len(leaders) <= 1, (seed, leaders)
        if leaders and leaders[0] != last:
            changes, last = changes + 1, leaders[0]
    return changes


def happen(world: World, chance: Random) -> None:
    """The ordinary often, the rare seldom enough that leaders have time to be made."""
    number = chance.randrange(3)
    ordinary = (
        lambda: world.pass_time(chance.choice(DURATIONS[:5])),
        lambda: world.let_a_call_through(number),
        lambda: world.let_a_call_through(number),
        lambda: world.act(number),
        lambda: world.carry_out(chance.randrange(9)),
        lambda: world.answer(number),
    )
    rare = (
        lambda: world.pass_time(chance.choice(DURATIONS)),
        lambda: world.jump_the_wall_clock(chance.choice(JUMPS)),
        lambda: world.time_a_call_out(number),
        lambda: world.kill_and_restart(number),
        lambda: world.replace_by_a_copy(number, (number + 1) % 3),
        lambda: world.stop_cleanly(number),
        world.server.delete,
        world.server.label,
        world.server.erase_the_holder,
    )
    happening: Callable[[], None] = chance.choice(ordinary if chance.random() < 0.93 else rare)
    happening()


@pytest.mark.parametrize("seed", range(4))
def test_no_walk_meets_two_leaders(seed: int) -> None:
    assert walk(seed, steps=6_000) > 15


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 140))
def test_no_long_walk_meets_two_leaders(seed: int) -> None:
    assert walk(seed, steps=60_000) > 100
