"""The reconciler is killed right before or after an effect, and the story ends as it would have.

Each trial tells the same story: 30 pods of 3 shapes get their nodes; or 20 pods get theirs though
machines are sold out, fail, aren't heard of, or never join and are given back; or 20 nodes are
given back, but for three that are wanted after all, and one makes way for a cheaper one. The points
are those of a telling that nobody disturbed. Killed is the real process, on a real control plane,
while it is held at the point; what is there in the end is what the undisturbed telling came to.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

from growth.kube.transport import connect
from reconciler.effects.points import is_stable
from tests.simulation import today
from tests.thread import scaledown, thirty, twenty
from tests.thread.clearing import cleared
from tests.thread.growing import cluster_for
from tests.thread.lives import Lives

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from growth.kube.transport import Connection
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

QUICK = 8
"""Points of each story in the quick suite; each has some hundreds. Each day others: one week comes
to a tenth of them."""
TURN = today.turn()
KILLS = 20
"""In one telling: each process is killed at the next of its points."""
IN_VAIN = 3
"""Tellings that come to none of the points they were to end at; else ends swallow one another."""
BY_CHANCE = 0.02
"""The share of points that needn't come again: they hang on who is faster."""
STORIES = [
    pytest.param(thirty, {}, id="thirty"),
    pytest.param(twenty, {}, id="twenty"),
    pytest.param(scaledown, scaledown.SETTINGS, id="scale-down"),
]
"""Each with the settings that it needs."""


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """A cluster of its own, as what growth buys would serve the pods of other tests too.

    Each telling clears it.
    """
    with cluster_for("points") as cluster:
        yield cluster


@pytest.fixture
async def connection(growing: LiveCluster) -> AsyncIterator[Connection]:
    async with await connect(kubeconfig=growing.kubeconfig, process="test") as connection:
        yield connection


def chosen(points: Sequence[str], number: int, *, turn: int) -> list[str]:
    """So many, evenly over the whole story; one turn after the other comes to all of them."""
    step = -(-len(points) // number)
    return list(points[turn % step :: step])


class Story(Protocol):
    """What is told again and again; the modules of the stories are this."""

    async def furnish(self, connection: Connection) -> None: ...

    async def begin(self, connection: Connection, story: int) -> None: ...

    async def settled(self, connection: Connection, *, kills: int) -> None: ...

    async def end(self, connection: Connection) -> End: ...


class End(Protocol):
    """What a story comes to."""

    @property
    def machines(self) -> Counter[str]: ...

    @property
    def unknown(self) -> frozenset[str]: ...

    @property
    def bound(self) -> Counter[str]: ...


class Telling(NamedTuple):
    """One telling, in which a process was killed at some points and started again each time."""

    end: End
    points: list[str]
    missed: frozenset[str]
    """Points that it didn't come to, because an earlier end had swallowed them."""


class Stage(NamedTuple):
    """Where one story is told."""

    connection: Connection
    lives: Lives
    story: Story

    async def tell(self, number: int, *, ends: Sequence[str]) -> Telling:
        self.lives.tell_anew(ends=ends)
        missed = await self.lives.die_until(self._played(number, kills=len(ends)))
        end, points = await self.story.end(self.connection), self.lives.points[:]
        await cleared(self.connection)
        return Telling(end, points, missed)

    async def _played(self, number: int, *, kills: int) -> None:
        await self.story.furnish(self.connection)
        await self.story.begin(self.connection, number)
        await self.story.settled(self.connection, kills=kills)


async def assert_converges(stage: Stage, number: int | None) -> None:
    async with stage.lives.listening():
        undisturbed, announced, _ = await stage.tell(0, ends=())
        assert not undisturbed.unknown
        assert undisturbed.machines == undisturbed.bound
        points = [name for name in announced if is_stable(name)]
        tried = points if number is None else chosen(points, number, turn=TURN)
        left, in_vain = deque(tried), Counter[str]()
        for telling in count(1):
            ends = [left.popleft() for _ in range(min(KILLS, len(left)))]
            if not ends:
                break
            end, _, missed = await stage.tell(telling, ends=ends)
            assert end == undisturbed, ends
            if len(missed) == len(ends):
                in_vain.update(missed)
            left.extend(name for name in sorted(missed) if in_vain[name] < IN_VAIN)
    never = sorted(name for name, times in in_vain.items() if times == IN_VAIN)
    sys.stdout.write(f"{len(tried)} points, {len(tried) - len(never)} converged\n")
    assert len(never) <= len(tried) * BY_CHANCE, f"never reached again: {never}"
    sys.stdout.writelines(f"  never reached again: {name}\n" for name in never)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("story", "settings"), STORIES)
async def test_a_process_that_is_killed_at_a_point_converges_to_the_same_machines(
    growing: LiveCluster,
    connection: Connection,
    tmp_path: Path,
    story: Story,
    settings: dict[str, str],
) -> None:
    lives = Lives(growing.kubeconfig, folder=tmp_path, **settings)
    await assert_converges(Stage(connection, lives, story), QUICK)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("story", "settings"), STORIES)
async def test_a_process_that_is_killed_at_any_point_converges_to_the_same_machines(
    growing: LiveCluster,
    connection: Connection,
    tmp_path: Path,
    story: Story,
    settings: dict[str, str],
) -> None:
    lives = Lives(growing.kubeconfig, folder=tmp_path, **settings)
    await assert_converges(Stage(connection, lives, story), None)
