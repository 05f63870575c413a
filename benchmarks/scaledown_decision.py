"""How long it takes to decide what a large cluster can give back, and that this delays nothing.

Nodes of one small type are filled; then the whole catalogue may be bought and most of the load
ends, so that there is much to choose from. Single pods that need their own machine arrive before
that, and again while a search is running: their requests must come equally soon.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any, Final

from benchmarks import grown, manifests, scaledown_stage
from benchmarks.lives import watched
from benchmarks.scaledown_drop import kept
from benchmarks.scaledown_idle import alone
from benchmarks.scaledown_stage import load
from benchmarks.stages import decided, percentile
from growth.errors import GiveUp

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.lives import Lives
    from growth.kube.transport import Connection
    from kwok.clusters import LocalCluster

_SMALL: Final = {"aws": "amd-4x4", "hetzner": "cpx31"}
_PODS_A_NODE: Final = 4
_EVERYTHING: Final = {"budgets": [{"nodes": "100%"}]}
_SEARCH: Final = "could any of"
_PROOF: Final = "where would"
_LANE: Final = "replacement"
_LOOK: Final = 0.02
_DEPLOYMENTS: Final = 20
_BEGINS_WITHIN: Final = 120.0
_ENDS_WITHIN: Final = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The size, and how often."""
    parser.add_argument(
        "--cluster", type=int, default=200, metavar="N", help="approximate number of nodes"
    )
    parser.add_argument("--lone", type=int, default=5, metavar="N", help="single pods each time")


def measure(arguments: argparse.Namespace) -> None:
    """Measure on one cluster."""
    with scaledown_stage.a_cluster(arguments) as cluster:
        asyncio.run(_measure(cluster, arguments))


async def _measure(cluster: LocalCluster, arguments: argparse.Namespace) -> None:
    log = Log(cluster.folder / "growth.log")
    before = load()
    async with grown.connected(cluster) as connection, watched(connection) as lives:
        fewer = await _fill(connection, lives, arguments)
        numbers = iter(range(2 * arguments.lone))
        quiet = [
            await _lone(connection, lives, arguments, next(numbers)) for _ in range(arguments.lone)
        ]
        nodes = sum(not life.is_gone for life in lives.of("node").values())
        log.more()
        await scaledown_stage.scale(connection, fewer)
        await scaledown_stage.change_pool(connection, {"disruption": {"consolidation": None}})
        print(f"{nodes} nodes, {sum(fewer.values())} pods left; load {before} to {load()}")
        print("\n".join(await _decisions(log)), flush=True)
        busy = [
            await _in_the_middle(connection, lives, arguments, log=log, number=number)
            for number in numbers
        ]
    print("\n".join(_compared(quiet, [each for each in busy if each is not None])), flush=True)


def _compared(quiet: Sequence[float], busy: Sequence[float]) -> Iterator[str]:
    yield f"  time to the request of a single pod, without a search: {_row(quiet)}"
    if busy:
        ratio = percentile(busy, 50) / percentile(quiet, 50)
        yield f"  during a search ({len(busy)} times): {_row(busy)}"
        yield f"  median {ratio:.2f} x; load {load()}\n"
    else:
        yield "  there was no further search\n"


async def _fill(
    connection: Connection, lives: Lives, arguments: argparse.Namespace
) -> dict[str, int]:
    """Small nodes full of pods, and then a pool that may buy everything."""
    *others, pool = scaledown_stage.offered(arguments, disruption=_EVERYTHING)
    everything = pool["spec"]["serverTypes"]
    small = [each for each in everything if each["name"] == _SMALL[arguments.prices]]
    # Otherwise the full nodes would be replaced before the measurement.
    never = {**_EVERYTHING, "consolidation": "Never"}
    narrow = {**pool, "spec": {**pool["spec"], "serverTypes": small, "disruption": never}}
    wanted = list(_deployments(arguments))
    replicas = scaledown_stage.replicas_of(wanted)
    await grown.create(connection, [*others, narrow, *wanted])
    await scaledown_stage.until_bound(lives, sum(replicas.values()))
    await scaledown_stage.change_pool(connection, {"serverTypes": everything})
    return kept(replicas)


def _deployments(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Pods of which about four fit on a small node."""
    chance = random.Random(arguments.seed)
    for number in range(_DEPLOYMENTS):
        requests = {
            "cpu": f"{chance.randrange(500, 1100, 50)}m",
            "memory": f"{chance.randrange(1024, 3072, 128)}Mi",
        }
        count = arguments.cluster * _PODS_A_NODE // _DEPLOYMENTS
        yield manifests.deployment(f"crowd-{number:02}", replicas=count, requests=requests)


class Log:
    """What the reconciler has decided since the last call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._since = path.stat().st_size

    def more(self) -> list[tuple[float, str, str]]:
        """New decisions: when, about what, and why."""
        since, self._since = self._since, self._path.stat().st_size
        return decided(self._path, since=since)

    async def until(self, words: str, *, within: float) -> list[tuple[float, str, str]]:
        """All decisions until something was on the replacement lane; that one is last."""
        found: list[tuple[float, str, str]] = []
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            for each in self.more():
                found.append(each)
                if each[1] == _LANE and each[2].startswith(words):
                    return found
            await asyncio.sleep(_LOOK)
        raise GiveUp(f"{words}: no decision within {within:.0f} s")


async def _decisions(log: Log) -> list[str]:
    """How long the first search and its proof took."""
    *_, (asked, _, why) = await log.until(_SEARCH, within=_BEGINS_WITHIN)
    *_, (found, _, moved) = await log.until(_PROOF, within=_ENDS_WITHIN)
    written = await _next(log, after=found)
    search, proof = f"{found - asked:.2f} s", f"{written - found:.2f} s"
    return [
        f"  {why}: answered after {search}; {moved}: answered after {proof}",
        f"  decided within {written - asked:.2f} s (goal <= 5)",
    ]


async def _next(log: Log, *, after: float) -> float:
    """When the result of the proof was decided: a request, or the end of a node."""
    deadline = time.monotonic() + _ENDS_WITHIN
    while time.monotonic() < deadline:
        for at, subject, _ in log.more():
            if at > after and subject.startswith("default-"):
                return at
        await asyncio.sleep(_LOOK)
    raise GiveUp(f"no result of a proof within {_ENDS_WITHIN:.0f} s")


async def _in_the_middle(
    connection: Connection, lives: Lives, arguments: argparse.Namespace, *, log: Log, number: int
) -> float | None:
    """A single pod that arrives during a search; None if there is no more search."""
    try:
        await log.until(_SEARCH, within=_ENDS_WITHIN)
    except GiveUp:
        return None
    return await _lone(connection, lives, arguments, number)


async def _lone(
    connection: Connection, lives: Lives, arguments: argparse.Namespace, number: int
) -> float:
    """From the creation of a pod that fits nowhere to its request, in seconds; the pod stays."""
    pod = alone(number, arguments)
    name = pod["metadata"]["name"]
    await grown.create(connection, [pod])
    await lives.until(
        lambda: name in _requested(lives), f"{name} is requested", within=scaledown_stage.PATIENCE
    )
    # Otherwise the next one might take its machine.
    await lives.until(
        lambda: "bound" in lives.of("pod")[name].moments,
        f"{name} is bound",
        within=scaledown_stage.PATIENCE,
    )
    return _requested(lives)[name] - lives.of("pod")[name].moments["created"]


def _requested(lives: Lives) -> dict[str, float]:
    """When a machine was requested for a pod, by the pod's name."""
    return {
        pod["name"]: life.moments["created"]
        for life in lives.of("request").values()
        for pod in life.newest["spec"].get("pods", ())
    }


def _row(seconds: Sequence[float]) -> str:
    shown = [percentile(seconds, part) * 1000 for part in (50, 90)]
    return f"p50 {shown[0]:.0f}, p90 {shown[1]:.0f}, at most {max(seconds) * 1000:.0f} ms"
