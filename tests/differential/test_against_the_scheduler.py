"""What the real scheduler says of generated cases, and what that is worth as a test."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.differential import stage
from tests.differential.comparison import Outcome, opened
from tests.differential.generator import CONSTRAINTS, generated
from tests.differential.hunt import hunted_briefly, table
from tests.differential.report import failures
from tests.differential.snapshot import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.cases import Case, Manifest
    from tests.differential.comparison import Played
    from tests.differential.connection import Connection
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def played(cluster: LiveCluster) -> list[Played]:
    return asyncio.run(_played(cluster, count=500, number=1))


def test_our_rules_and_the_scheduler_agree_on_500_clusters(played: list[Played]) -> None:
    _agree(played, count=500)
    assert {name for each in played for name in each.case.constraints} == set(CONSTRAINTS)


def test_the_cases_find_every_mistake_that_is_planted_into_our_rules(played: list[Played]) -> None:
    catches = list(hunted_briefly(played))

    assert all(catch.found for catch in catches), "\n".join(table(catches))


async def test_a_case_of_which_a_controller_takes_something_away_is_played_again(
    cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = generated(count=12, number=1, constraints=("attach-limits",))
    case = next(each for each in drawn if any(map(_is_attachment, each.objects)))
    put_in_place, taken = stage.put_in_place, list[str]()

    async def put_and_take(connection: Connection, actor: Case) -> None:
        await put_in_place(connection, actor)
        if not taken:
            taken.extend(stage.path_of(each) for each in actor.objects if _is_attachment(each))
            await asyncio.gather(*(connection.delete(path, {}) for path in taken))

    monkeypatch.setattr(stage, "put_in_place", put_and_take)
    async with opened(cluster.kubeconfig) as theatre:
        [played] = await theatre.play([case])

    assert taken
    assert played.outcome is Outcome.AGREED
    assert played.seen is not None
    assert any(kind == "volumeattachments" for kind, _ in names(played.seen))


def _is_attachment(manifest: Manifest) -> bool:
    return bool(manifest["kind"] == "VolumeAttachment")


@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_our_rules_and_the_scheduler_agree_on_thousands_of_clusters(
    cluster: LiveCluster,
) -> None:
    _agree(await _played(cluster, count=4000, number=2), count=4000)


async def _played(cluster: LiveCluster, *, count: int, number: int) -> list[Played]:
    async with opened(cluster.kubeconfig) as theatre:
        return await theatre.play(generated(count=count, number=number))


def _agree(played: Sequence[Played], *, count: int) -> None:
    assert len(played) == count
    assert all(each.outcome is Outcome.AGREED for each in played), failures(played)
