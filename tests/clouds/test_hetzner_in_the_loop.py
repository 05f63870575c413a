"""Hetzner in the loop: a real control plane, our real process, and the fake of Hetzner's API."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.clouds.growing import SYSTEM, TOKEN, Site, site
from tests.live import bring_down, bring_up, wait_until
from tests.thread.growing import install

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """A cluster of its own: what growth buys would serve the pods of other tests too."""
    name = f"growth-test-{os.getpid()}-hetzner"
    try:
        cluster = bring_up(name)
        install(cluster)
        cluster.kubectl("create", "namespace", SYSTEM)
        yield cluster
    finally:
        bring_down(name)


@pytest.fixture
def place(growing: LiveCluster, tmp_path: Path) -> Iterator[Site]:
    with site(growing, tmp_path) as place:
        place.keep_token(TOKEN)
        place.node_class()
        place.pool()
        yield place
        place.clear()


def test_pods_without_a_place_get_servers_that_join_and_take_them(place: Site) -> None:
    with place.growing():
        place.workload("web", replicas=6)
        place.wait_until_bound(6)
        names = {server.name for server in place.servers()}
        wait_until(lambda: place.phases() == dict.fromkeys(names, "Ready"), "all are Ready")
    assert len(place.servers()) == 6
