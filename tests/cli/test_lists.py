"""Whole lists of a cluster, and what of them can't be read."""

from __future__ import annotations

import asyncio

from growth.api.nodepool import NodePool
from growth.cli.lists import Lists
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
