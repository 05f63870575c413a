"""What a burst costs of Hetzner's limit, through the whole loop: others live on it too."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.clouds.growing import cluster_of_its_own
from tests.live import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clouds.growing import Site
    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.long]

SERVERS = 100
MOST = 250


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """With no other node class in it, as each one is listed by itself."""
    with cluster_of_its_own("budget") as cluster:
        yield cluster


def test_a_burst_of_a_hundred_servers_takes_at_most_250_calls_until_all_of_them_serve(
    place: Site,
) -> None:
    place.project.action_seconds = 10
    story = place.tell(
        "burst", pool={"readinessWait": "10m"}, placementGroup="Preferred", networks=["cluster"]
    )
    story.wants(SERVERS)

    story.is_served(SERVERS, within=200)
    ready = dict.fromkeys((server.name for server in story.servers()), "Ready")
    wait_until(lambda: story.phases() == ready, "all are Ready")

    calls = place.project.calls
    sys.stdout.write(f"{len(ready)} servers, {calls.total()} calls: {dict(calls)}\n")
    assert len(ready) == SERVERS
    assert calls.total() <= MOST, calls
    assert place.project.bucket.lowest >= 0.2 * place.project.bucket.limit
