from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.differential.comparison import Outcome, opened
from tests.differential.generator import generated
from tests.differential.report import failures

if TYPE_CHECKING:
    from tests.differential.cases import Case
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster


@pytest.mark.timeout(240)
async def test_our_rules_and_the_scheduler_agree_on_500_clusters(cluster: LiveCluster) -> None:
    await _agree(cluster, generated(count=500, number=1))


@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_our_rules_and_the_scheduler_agree_on_thousands_of_clusters(
    cluster: LiveCluster,
) -> None:
    await _agree(cluster, generated(count=4000, number=2))


async def _agree(cluster: LiveCluster, cases: list[Case]) -> None:
    async with opened(cluster.kubeconfig) as theatre:
        played = await theatre.play(cases)
    assert len(played) == len(cases)
    assert all(each.outcome is Outcome.AGREED for each in played), failures(played)
