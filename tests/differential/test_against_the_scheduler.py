"""What the real scheduler says of generated cases, and what that is worth as a test."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.differential.comparison import Outcome, opened
from tests.differential.generator import CONSTRAINTS, generated
from tests.differential.hunt import hunted_briefly, table
from tests.differential.report import failures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.comparison import Played
    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def played(cluster: LiveCluster) -> list[Played]:
    return asyncio.run(_played(cluster, count=500, number=1))


def test_our_rules_and_the_scheduler_agree_on_500_clusters(played: list[Played]) -> None:
    _agree(played, count=500)
    assert {name for each in played for name in each.case.constraints} == set(CONSTRAINTS)


def test_the_cases_find_every_mistake_that_is_planted_into_our_rules(played: list[Played]) -> None:
    catches = list(hunted_briefly(played))

    assert all(catch.found for catch in catches), "\n".join(table(catches))


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
