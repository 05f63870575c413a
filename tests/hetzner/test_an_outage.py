"""An outage of the API: what was read before serves on, and nobody waits for it one by one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from growth.errors import RetryLater
from reconciler.providers.hetzner.last_good import FAILED_FOR
from reconciler.providers.port import Accepted
from tests.hetzner.fake.faults import Fault, Kind

if TYPE_CHECKING:
    from tests.hetzner.story import Story

OVER = 601
"""Seconds after which what was read has to be read again."""


@pytest.mark.parametrize("call", ["GET /server_types", "GET /ssh_keys"])
async def test_a_burst_of_purchases_tries_only_once_what_can_not_be_read(
    story: Story, call: str
) -> None:
    await story.bought("default-0")
    story.project.pass_time(OVER)
    story.project.calls.clear()
    story.project.faults.add(Fault(call=call, kind=Kind.CUT, times=100))

    answers = await asyncio.gather(*(story.create(f"default-{number}") for number in range(1, 9)))

    assert all(isinstance(answer, Accepted) for answer in answers)
    assert story.project.calls[call] == 1
    story.project.pass_time(FAILED_FOR)
    await story.create("default-9")
    assert story.project.calls[call] == 2


@pytest.mark.parametrize("call", ["GET /server_types", "GET /ssh_keys"])
async def test_what_was_never_read_is_tried_again_after_half_a_minute(
    story: Story, call: str
) -> None:
    story.project.faults.add(Fault(call=call, kind=Kind.CUT))

    for _ in range(3):
        with pytest.raises(RetryLater):
            await story.provider.offerings()

    assert story.project.calls[call] == 1
    story.project.pass_time(FAILED_FOR)
    assert await story.provider.offerings()


async def test_another_token_is_tried_at_once(story: Story) -> None:
    token, story.secrets.values["hetzner"] = story.secrets.values["hetzner"], "of-nobody"
    with pytest.raises(RetryLater):
        await story.provider.offerings()

    story.secrets.values["hetzner"] = token

    assert await story.provider.offerings()


async def test_the_last_good_inventory_of_a_class_outlives_a_reading_for_another(
    story: Story,
) -> None:
    await story.provider.offerings()
    story.project.pass_time(OVER)
    story.uses(sshKeys=[], images={"x86": "12"})
    await story.provider.offerings()
    story.uses()
    story.project.faults.add(Fault(call="GET /ssh_keys", code="bad_gateway"))

    assert await story.provider.offerings()
