"""What the extender costs the scheduler: the benchmark's own runs, in their short form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.extender_throughput import GOAL, compare
from kwok.clusters import find_cluster
from tests.thread.growing import install_definitions

if TYPE_CHECKING:
    from tests.live import LiveCluster

# Where other work takes the processors from one side and not from the other, the ratio of the rates
# says little, and that of the processor times as much as ever.
pytestmark = [pytest.mark.cluster, pytest.mark.long]

EVEN_ON_A_BUSY_MACHINE = 0.5


def test_a_scheduler_that_asks_the_extender_places_four_fifths_of_the_pods_at_least(
    cluster: LiveCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    install_definitions(cluster)
    found = find_cluster(cluster.name)
    assert found is not None

    with capsys.disabled():
        kept = compare(found, pods=300, nodes=50, runs=3)

    assert kept.processor >= GOAL
    assert kept.rate >= EVEN_ON_A_BUSY_MACHINE
