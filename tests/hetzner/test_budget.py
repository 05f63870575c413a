"""The limit on calls is shared: a burst is cheap, others keep their part, deletes get through."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.providers.hetzner.rates import (
    HOUR,
    OUR_SHARE,
    Purpose,
    RateBucket,
    after_answer,
    exhausted,
)
from reconciler.providers.port import Accepted, DeleteOutcome, MachineState, Throttled
from tests.hetzner.build import order
from tests.hetzner.fake.faults import Fault
from tests.hetzner.fake.records import START

if TYPE_CHECKING:
    from tests.hetzner.story import Story

CREATE, LIST, DELETE = Purpose.CREATE, Purpose.LIST, Purpose.DELETE
FULL = RateBucket()


async def test_a_burst_of_a_hundred_servers_takes_at_most_250_calls(story: Story) -> None:
    story.uses(placementGroup="Preferred", networks=["cluster"], firewalls=["nodes"])
    await story.provider.offerings()
    orders = [order(f"default-{number}", intended_at=START) for number in range(100)]

    answers = await asyncio.gather(*(story.provider.create(each) for each in orders))
    while any(each.state is not MachineState.RUNNING for each in (await story.machines()).values()):
        story.project.pass_time(2)

    assert all(isinstance(answer, Accepted) for answer in answers)
    assert len(story.names) == 100
    assert sum(story.project.calls.values()) <= 250, story.project.calls


async def test_a_burst_that_nobody_dated_is_cheap_too(story: Story) -> None:
    await story.provider.offerings()

    await asyncio.gather(*(story.create(f"default-{number}") for number in range(100)))

    assert story.project.calls["GET /servers"] <= 10


async def test_purchases_stop_while_a_fifth_is_left_and_deletes_go_on(story: Story) -> None:
    limit = 60
    story.project.bucket.shrink_to(limit)
    machine = await story.bought("default-0")

    answers = [await story.create(f"default-{number}") for number in range(1, limit)]
    for _ in range(limit):
        await story.provider.list()

    assert isinstance(answers[-1], Throttled)
    assert answers[-1].seconds > 1
    assert story.project.bucket.lowest >= limit * 0.2
    assert (await story.delete(machine)).outcome is DeleteOutcome.ACCEPTED


async def test_what_is_left_is_known_however_the_names_of_headers_are_written(
    story: Story,
) -> None:
    story.project.bucket.in_lower_case = True
    story.project.bucket.left = 500
    await story.provider.list()

    assert isinstance(await story.create(), Throttled)
    assert story.project.calls["POST /servers"] == 0


@pytest.mark.parametrize("restart", [False, True])
async def test_deletes_go_on_when_others_have_used_the_limit_up(
    story: Story,
    restart: bool,  # noqa: FBT001 - a column of the table
) -> None:
    machine = await story.bought()
    if restart:
        story.restart()
    story.project.bucket.left = 20
    for _ in range(2):
        story.project.pass_time(1)
        await story.provider.list()
    story.project.pass_time(1)
    assert not (await story.provider.list()).is_complete

    assert isinstance(await story.create("default-2"), Throttled)
    assert (await story.delete(machine)).outcome is DeleteOutcome.ACCEPTED


async def test_a_delete_that_is_refused_for_its_rate_says_how_long_to_wait(story: Story) -> None:
    machine = await story.bought()
    story.project.bucket.left = 0

    answer = await story.delete(machine)

    assert answer.outcome is DeleteOutcome.FAILED
    assert answer.seconds >= 1
    story.project.pass_time(answer.seconds)
    assert (await story.delete(machine)).outcome is DeleteOutcome.ACCEPTED


async def test_what_is_called_and_left_is_told_without_a_series_for_each_server(
    story: Story,
) -> None:
    machine = await story.bought()
    await story.delete(machine)
    story.project.faults.add(Fault(call="GET /servers", code="bad_gateway"))
    story.project.pass_time(1)
    await story.provider.list()

    def value(name: str, **labels: str) -> float | None:
        return story.registry.get_sample_value(name, labels)

    calls = "growth_hetzner_calls_total"
    assert value(calls, call="DELETE /servers/{id}", outcome="ok") == 1
    assert value(calls, call="GET /servers", outcome="bad_gateway") == 1
    left = value("growth_hetzner_rate_limit_remaining", secret="growth-system/hetzner")
    assert left is not None
    assert 3500 < left < 3600


@pytest.mark.parametrize(
    ("left", "may"),
    [
        (3600, {CREATE, LIST, DELETE}),
        (1081, {CREATE, LIST, DELETE}),
        (1080, {LIST, DELETE}),
        (901, {LIST, DELETE}),
        (900, {DELETE}),
        (1, {DELETE}),
        (0, set()),
    ],
)
def test_the_less_is_left_the_less_may_be_done(left: int, may: set[Purpose]) -> None:
    standing = RateBucket(left=left)

    assert {purpose for purpose in Purpose if standing.wait(purpose) == 0} == may


@given(
    limit=st.integers(60, 10_000),
    steps=st.lists(
        st.tuples(st.sampled_from(Purpose), st.integers(1, 400), st.floats(0, 600)), max_size=30
    ),
)
def test_we_never_use_more_than_four_fifths_of_the_limit(
    limit: int, steps: list[tuple[Purpose, int, float]]
) -> None:
    standing, now, used = RateBucket(limit=limit, left=limit, ours=limit * OUR_SHARE), 0.0, 0
    for purpose, calls, pause in steps:
        for _ in range(calls):
            if standing.wait(purpose) > 0:
                break
            standing, used = standing.drawn(), used + 1
        now += pause
        standing = standing.later(now)

    assert used <= 0.8 * (limit + now * limit / HOUR) + 1e-6


@given(left=st.floats(-20, 3600), purpose=st.sampled_from(Purpose))
def test_after_the_wait_the_call_may_be_made(left: float, purpose: Purpose) -> None:
    standing = RateBucket(left=left)

    wait = standing.wait(purpose)

    assert standing.later(wait + 0.001).wait(purpose) == pytest.approx(0, abs=0.001)


def test_calls_under_way_are_not_forgotten_when_an_answer_comes() -> None:
    headers = {
        "RateLimit-Limit": "7200",
        "RateLimit-Remaining": "5000",
        "RateLimit-Reset": "1100",
    }

    standing = after_answer(FULL, headers, wall=0, under_way=7)

    assert (standing.limit, standing.left, standing.ours) == (7200, 4993, 7200 * OUR_SHARE)
    assert standing.full_at == 1100


@pytest.mark.parametrize(
    "headers", [{}, {"RateLimit-Limit": "many"}, {"RateLimit-Limit": "0"}], ids=str
)
def test_headers_that_say_nothing_change_nothing(headers: dict[str, str]) -> None:
    given_all = {"RateLimit-Remaining": "1", "RateLimit-Reset": "1"} if headers else {}

    assert after_answer(FULL, headers | given_all, wall=0, under_way=0) == FULL


def test_a_refusal_for_the_rate_empties_what_we_thought_was_left() -> None:
    assert exhausted(FULL).wait(CREATE) > 1000
