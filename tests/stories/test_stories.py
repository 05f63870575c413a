"""Every story ends in the same machines and bindings, simulated and on a real control plane."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest
import structlog

from growth.kube.transport import connect
from tests.faults.upstream import Upstream
from tests.live import bring_down, bring_up
from tests.stories import real, simulated
from tests.stories.ending import differences
from tests.stories.losing import LosingProxy
from tests.stories.objects import named
from tests.stories.process import reconciling
from tests.stories.story import Share
from tests.stories.told import STORIES
from tests.stories.view import View
from tests.thread.growing import install

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tests.live import LiveCluster
    from tests.stories.ending import Ending, Seen
    from tests.stories.story import Story

AT_ONCE = 14
"""So many stories go on at the same time: more would only wait for each other."""
STAYS_FOR = 2.0
ON_BOTH_STAGES = "test_a_story_ends_alike_on_both_stages"

each_story = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
told_by_share = pytest.mark.parametrize(
    "story",
    [
        pytest.param(
            story, id=story.name, marks=() if story.share is Share.QUICK else pytest.mark.long
        )
        for story in STORIES
    ],
)


class Telling(NamedTuple):
    """One story on the real control plane."""

    chapters: tuple[Seen, ...]
    afterwards: Seen
    """When all stories have ended and nothing was done for a while."""


@pytest.fixture(scope="module")
def endings() -> Iterator[Mapping[str, Sequence[Ending]]]:
    """Of each chapter of each story, simulated."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield {story.name: simulated_endings(story) for story in STORIES}
    structlog.reset_defaults()


def simulated_endings(story: Story) -> Sequence[Ending]:
    seen = tuple(simulated.Stage(story).tell())
    assert not [text for each in seen for text in each.unrest]
    return tuple(each.ending for each in seen)


@pytest.fixture(scope="module")
def tellings(
    endings: Mapping[str, Sequence[Ending]],
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Mapping[str, Telling]]:
    """All stories that are asked for, each with a namespace and pools of its own in one cluster."""
    wanted = {item.name for item in request.session.items}
    stories = [story for story in STORIES if f"{ON_BOTH_STAGES}[{story.name}]" in wanted]
    folder = tmp_path_factory.mktemp("stories")
    name = f"growth-test-{os.getpid()}-stories"
    try:
        cluster = bring_up(name)
        install(cluster)
        yield asyncio.run(tell_all(cluster, stories, endings, folder=folder))
    finally:
        bring_down(name)


async def tell_all(
    cluster: LiveCluster,
    stories: Sequence[Story],
    endings: Mapping[str, Sequence[Ending]],
    *,
    folder: Path,
) -> Mapping[str, Telling]:
    upstream = Upstream.of(cluster.kubeconfig)
    proxy = LosingProxy(upstream, kubeconfig=folder / "kubeconfig", stories=stories)
    await proxy.start()
    async with (
        await connect(kubeconfig=cluster.kubeconfig, process="stories") as connection,
        reconciling(proxy.kubeconfig, log=folder / "log") as reconciler,
    ):
        view = View(connection, stories)
        turn = asyncio.Semaphore(AT_ONCE)

        async def tell(story: Story) -> tuple[Seen, ...]:
            stage = real.Stage(story, connection=connection, view=view, reconciler=reconciler)
            async with turn:
                return tuple([seen async for seen in stage.tell(endings[story.name])])

        async with view.kept():
            told = await asyncio.gather(*(tell(story) for story in stories))
            await asyncio.sleep(STAYS_FOR)
            tellings = {
                story.name: Telling(chapters, view.corners[story.name].seen)
                for story, chapters in zip(stories, told, strict=True)
            }
    await proxy.stop()
    assert {call for call, _ in proxy.lost} == {call for story in stories for call in story.loses}
    return tellings


@each_story
def test_a_simulated_story_keeps_to_what_is_known_of_it(
    story: Story, endings: Mapping[str, Sequence[Ending]]
) -> None:
    last = endings[story.name][-1]
    assert last.left == dict(sorted(story.left.items()))
    counts = Counter[tuple[str, str]]()
    for kind, count in last.machines.items():
        counts[kind.pool, kind.server_type] += count
    for pool in story.pools:
        for server_type, most in pool.types.items():
            assert counts[named(story.name, pool.name), server_type] <= most


@pytest.mark.cluster
@told_by_share
def test_a_story_ends_alike_on_both_stages(
    story: Story, endings: Mapping[str, Sequence[Ending]], tellings: Mapping[str, Telling]
) -> None:
    expected, telling = endings[story.name], tellings[story.name]
    chapters = zip(expected, telling.chapters, strict=False)
    for number, (ending, seen) in enumerate(chapters, start=1):
        assert not seen.unrest, f"chapter {number}: {'; '.join(seen.unrest)}"
        different = differences(ending, seen.ending)
        assert not different, f"chapter {number}\n{different}"
    assert not differences(expected[-1], telling.afterwards.ending), "it didn't stay so"
