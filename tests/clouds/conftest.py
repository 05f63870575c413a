"""A cluster that buys at the fake of Hetzner's API; all stories of a module share one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clouds.growing import TOKEN, Site, cluster_of_its_own, site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster


@pytest.fixture(scope="package")
def growing() -> Iterator[LiveCluster]:
    """One for all stories of this package."""
    with cluster_of_its_own("hetzner") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def running(growing: LiveCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The process that buys, from the first story of a module to its last."""
    with site(growing, tmp_path_factory.mktemp("hetzner")) as place:
        place.keep_token(TOKEN)
        with place.growing():
            yield place


@pytest.fixture
def place(running: Site) -> Iterator[Site]:
    """The same, with nothing that goes wrong any more after a story."""
    yield running
    running.cluster.kubectl("delete", "deployment", "--all", "--now", "--wait=false")
    running.project.faults.waiting.clear()
    running.project.failing_actions.clear()
    running.project.sold_out.clear()
    running.project.down.clear()
    running.datacentre.joins = lambda _: True
