"""The real process, with a mistake in its planning, stops before it buys what it must not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from growth.api.wellknown import WRITING_STOPPED_ANNOTATION
from growth.cli.__main__ import main
from tests.live import wait_until
from tests.thread.growing import EXAMPLE, cluster_for, deployment, pool_of
from tests.thread.lives import Lives

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster
FORGETS_MAXIMA = """
from reconciler.buying import market
market._maxima = lambda *known, **more: iter(())
"""


@pytest.fixture
def growing() -> Iterator[LiveCluster]:
    """A cluster of its own, as growth stands still in it in the end."""
    with cluster_for("breach") as cluster:
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        yield cluster


async def test_a_process_that_would_exceed_a_maximum_writes_nothing_and_says_so_on_its_lease(
    growing: LiveCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow = pool_of("cx23")
    narrow["spec"]["serverTypes"][0]["max"] = 1
    growing.create(narrow)
    growing.create(deployment("web", pool="cx23", replicas=3, cpu="1500m", memory="1Gi"))

    async with Lives(growing.kubeconfig, folder=tmp_path, planted=FORGETS_MAXIMA).listening():
        await asyncio.to_thread(
            wait_until, lambda: "MaximumKept" in stopped(growing), "the Lease says so"
        )
        assert growing.get("noderequests")["items"] == []
        words = ["status", "--kubeconfig", str(growing.kubeconfig)]
        status = await asyncio.to_thread(main, words)

    assert status == 1
    assert "has stopped writing: MaximumKept" in " ".join(capsys.readouterr().out.split())


def stopped(cluster: LiveCluster) -> str:
    lease = cluster.get("lease", "growth-reconciler", "--namespace", "kube-system")
    return str(lease["metadata"].get("annotations", {}).get(WRITING_STOPPED_ANNOTATION, ""))
