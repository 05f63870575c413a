"""Whole lists of a cluster, and what of them can't be read."""

from __future__ import annotations

import asyncio

import pytest

from growth.api.nodepool import NodePool
from growth.cli.cluster.lists import Lists, together
from growth.errors import GiveUp, RetryLater
from tests.cli.installed import GROWTH, connection, installed, pool

BROKEN = {"metadata": {"name": "broken"}, "spec": {"serverTypes": "many"}}


def test_what_cannot_be_read_is_named_once_however_often_it_is_looked_at() -> None:
    cluster = installed()
    cluster.put(f"{GROWTH}/nodepools/broken", BROKEN)
    lists = Lists(connection(cluster))

    looks = [asyncio.run(lists.ours(NodePool)) for _ in range(3)]

    assert [[each.name for each in pools] for pools in looks] == [["default"]] * 3
    assert lists.unreadable == ("nodepools broken",)


def test_what_was_mended_is_not_named_any_more() -> None:
    cluster = installed()
    cluster.put(f"{GROWTH}/nodepools/broken", BROKEN)
    lists = Lists(connection(cluster))
    asyncio.run(lists.ours(NodePool))

    cluster.put(f"{GROWTH}/nodepools/broken", pool("broken"))

    assert len(asyncio.run(lists.ours(NodePool))) == 2
    assert lists.unreadable == ()


async def test_what_is_cancelled_ends_though_an_answer_fails_at_that_moment() -> None:
    async def answer() -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            raise RetryLater("late") from None

    asked = asyncio.create_task(together([answer()]))
    await asyncio.sleep(0.01)
    asked.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_of_several_failures_the_one_is_told_that_came_first() -> None:
    async def ended_by_another() -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            raise RetryLater("late") from None

    async def refused() -> None:
        raise GiveUp("not allowed")

    with pytest.raises(GiveUp, match="not allowed"):
        await together([ended_by_another(), refused()])


async def test_others_that_are_about_to_be_answered_are_not_cancelled_by_a_failure() -> None:
    answered: list[str] = []

    async def refused() -> None:
        raise GiveUp("not allowed")

    async def a_little_later() -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        answered.append("here")

    with pytest.raises(GiveUp, match="not allowed"):
        await together([refused(), a_little_later()])

    assert answered == ["here"]
