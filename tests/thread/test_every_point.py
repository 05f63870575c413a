"""The reconciler is killed right before or after an effect, and the story ends as it would have.

Each trial tells the same story: 30 pods of 3 shapes get their nodes. The points are those of a
telling that nobody disturbed. Killed is the real process, on a real control plane, while it is held
at the point; what is there in the end is what the undisturbed telling came to.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import pytest

from growth.kube.transport import connect
from reconciler.points import is_stable
from tests.live import bring_down, bring_up
from tests.thread import thirty
from tests.thread.growing import install
from tests.thread.lives import Lives

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from growth.kube.transport import Connection
    from tests.live import LiveCluster
    from tests.thread.thirty import End

pytestmark = [pytest.mark.cluster]

QUICK = 20
"""Points in the quick suite, of 362."""
KILLS = 5
"""In one telling: each process is killed at the next of its points."""


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """A cluster of its own: what growth buys would serve the pods of other tests too."""
    name = f"growth-test-{os.getpid()}-points"
    try:
        cluster = bring_up(name)
        install(cluster)
        yield cluster
    finally:
        bring_down(name)


@pytest.fixture
async def connection(growing: LiveCluster) -> AsyncIterator[Connection]:
    async with await connect(kubeconfig=growing.kubeconfig, process="test") as connection:
        yield connection


def chosen(points: Sequence[str], number: int) -> list[str]:
    """So many, evenly over the whole story."""
    return [points[index * len(points) // number] for index in range(number)]


class Telling(NamedTuple):
    """One telling, in which a process was killed at some points and started again each time."""

    end: End
    missed: frozenset[str]
    """Points that it didn't come to, because an earlier end had swallowed them."""


async def told(connection: Connection, lives: Lives, *, story: int, ends: Sequence[str]) -> Telling:
    lives.tell_anew(ends=ends)
    await thirty.begin(connection, story)
    missed = await lives.die_until(thirty.settled(connection))
    end = await thirty.end(connection)
    await thirty.clear(connection)
    return Telling(end, missed)


async def assert_converges(connection: Connection, lives: Lives, number: int | None) -> None:
    await thirty.furnish(connection)
    async with lives.listening():
        undisturbed, _ = await told(connection, lives, story=0, ends=())
        assert not undisturbed.unknown
        assert undisturbed.machines == undisturbed.bound
        points = [name for name in lives.points if is_stable(name)]
        tried = points if number is None else chosen(points, number)
        left = deque(tried)
        for story in count(1):
            ends = [left.popleft() for _ in range(min(KILLS, len(left)))]
            if not ends:
                break
            end, missed = await told(connection, lives, story=story, ends=ends)
            assert end == undisturbed, ends
            assert len(missed) < len(ends), f"never reached: {missed}"
            left.extend(sorted(missed))
    sys.stdout.write(f"{len(tried)} points, {len(tried)} converged\n")


@pytest.mark.timeout(600)
async def test_a_process_that_is_killed_at_a_point_converges_to_the_same_machines(
    growing: LiveCluster, connection: Connection, tmp_path: Path
) -> None:
    await assert_converges(connection, Lives(growing.kubeconfig, folder=tmp_path), QUICK)


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_a_process_that_is_killed_at_any_point_converges_to_the_same_machines(
    growing: LiveCluster, connection: Connection, tmp_path: Path
) -> None:
    await assert_converges(connection, Lives(growing.kubeconfig, folder=tmp_path), None)
