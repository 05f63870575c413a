"""Thirty seconds in which everybody does something to the cluster at once: nothing ends wrongly.

A watch that growth doesn't know of sees every end of a pod and of a node, and a judge who believes
nobody says of each whether it was right. `GROWTH_STORM_SEED` tells a storm again that has failed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from growth.kube.transport import connect
from tests.live import IN_TIME
from tests.thread.chronicle import Chronicle
from tests.thread.growing import cluster_for, reconciling
from tests.thread.judging import Judge
from tests.thread.storm import MAXIMA, Kind, Storm, drawn, path_of
from tests.thread.thirty import NODES, OURS, PODS, items

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from growth.kube.transport import Connection
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster
SEED = int(os.environ.get("GROWTH_STORM_SEED", "1"))
SECONDS = 30.0
LONG = 180.0
SOON = {"GROWTH_BIND_WAIT": "15s", "GROWTH_QUIET": "1s"}
"""Nothing is quiet for long in a storm, and nodes are to be replaced by cheaper ones in it, too."""


@pytest.fixture
def stormy() -> Iterator[LiveCluster]:
    """A cluster of its own, in which nothing else ends."""
    with cluster_for("storm") as cluster:
        yield cluster


@pytest.fixture
async def connection(stormy: LiveCluster) -> AsyncIterator[Connection]:
    async with await connect(kubeconfig=stormy.kubeconfig, process="storm") as connection:
        yield connection


async def assert_nothing_ends_wrongly(
    connection: Connection, stormy: LiveCluster, log: Path, *, seed: int, seconds: float
) -> None:
    storm, chronicle = Storm(connection), Chronicle(connection)
    sys.stdout.write(f"storm {seed}, {seconds:.0f} s\n")
    async with chronicle.kept():
        with reconciling(stormy, log, **SOON):
            await storm.furnish()
            await leads(log)
            await storm.rage(drawn(seed, seconds))
            await storm.end()
            await storm.settled()
        await chronicle.catch_up()
        judge = judged(chronicle, storm)
        assert not judge.found, judge.found
        assert judge.nodes_ended, "nothing was given back"
        assert storm.done.keys() == set(Kind)
        sys.stdout.write(f"{told(storm, judge)}\n")
        assert (await broken(connection, chronicle, storm)).keys() == {
            "no node ends with pods",
            "what ends was named",
        }


async def leads(log: Path) -> None:
    began = monotonic()
    while '"message": "leading"' not in await asyncio.to_thread(log.read_text):
        assert monotonic() - began < IN_TIME, "it never leads"
        await asyncio.sleep(0.1)


def judged(chronicle: Chronicle, storm: Storm) -> Judge:
    judge = Judge(storm.deeds, maxima=MAXIMA)
    judge.read(chronicle.told)
    return judge


async def broken(connection: Connection, chronicle: Chronicle, storm: Storm) -> Counter[str]:
    """What the judge says when somebody deletes a node that is in use: it isn't blind."""
    used = {pod["spec"]["nodeName"] for pod in await items(connection, PODS)}
    nodes = {each["metadata"]["name"]: each for each in await items(connection, NODES, OURS)}
    await connection.request("DELETE", path_of(nodes[min(used)]))
    await chronicle.catch_up()
    return Counter(violation.rule for violation in judged(chronicle, storm).found)


def told(storm: Storm, judge: Judge) -> str:
    deeds = ", ".join(f"{times} x {kind}" for kind, times in sorted(storm.done.items()))
    return f"{deeds}: {judge.nodes_ended} nodes ended, {judge.evicted} pods evicted, 0 violations"


async def test_nothing_ends_wrongly_in_a_storm(
    stormy: LiveCluster, connection: Connection, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    await assert_nothing_ends_wrongly(connection, stormy, log, seed=SEED, seconds=SECONDS)


@pytest.mark.long
@pytest.mark.parametrize("seed", [11, 12])
async def test_nothing_ends_wrongly_in_a_long_storm(
    stormy: LiveCluster, connection: Connection, tmp_path: Path, seed: int
) -> None:
    log = tmp_path / "log"
    await assert_nothing_ends_wrongly(connection, stormy, log, seed=seed, seconds=LONG)
