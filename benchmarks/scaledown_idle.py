"""How soon idle nodes go, and how soon a marked one is taken back when a pod needs it.

Single pods as large as a machine end, one after another and then all together. The goals: from the
last pod's end to the delete call, idleAfter and a second; from the scheduler's word that a new pod
fits nowhere to the end of the mark, a tenth of a second.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from benchmarks import grown, manifests, scaledown_stage
from benchmarks.lives import watched
from benchmarks.scaledown_stage import PATIENCE, PODS, load
from benchmarks.stages import decided, percentile
from growth.api.written import Duration
from reconciler.core.timing import Timing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.lives import Lives
    from growth.kube.transport import Connection
    from kwok.clusters import LocalCluster

_APART: Final = 0.3
"""Seconds between the ends of two pods that end one after another."""
_LISTED: Final = Timing().listing
_LARGE: Final = {"aws": "140", "hetzner": "40"}
_GOALS: Final = {"going": 1000, "back": 100}
"""Milliseconds."""

Spans = dict[str, float]
"""Seconds of one node, by stage."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How often to measure."""
    parser.add_argument("--nodes", type=int, default=20, metavar="N", help="nodes that go idle")
    parser.add_argument(
        "--backs", type=int, default=20, metavar="N", help="nodes that are taken back"
    )


def measure(arguments: argparse.Namespace) -> None:
    """Both, on one cluster."""
    with scaledown_stage.a_cluster(arguments) as cluster:
        asyncio.run(_measure(cluster, arguments))


async def _measure(cluster: LocalCluster, arguments: argparse.Namespace) -> None:
    idle_after = Duration.parse(arguments.idle_after).seconds
    async with grown.connected(cluster) as connection:
        await grown.create(connection, scaledown_stage.offered(arguments))
        for title, apart in (("one after another", _APART), ("all at once", 0.0)):
            before = load()
            spans = await _going(connection, arguments, apart=apart)
            print(f"{len(spans)} nodes go idle, {title}; load {before} to {load()}")
            print("\n".join(_table(spans, idle_after)), flush=True)
        before = load()
        log = cluster.folder / "growth.log"
        backs = await _coming_back(connection, arguments, log=log)
        print(f"{len(backs)} marked nodes are taken back; load {before} to {load()}")
        print("\n".join(_backs(backs)), flush=True)


async def _going(
    connection: Connection, arguments: argparse.Namespace, *, apart: float
) -> list[Spans]:
    async with watched(connection) as lives:
        pods = [alone(number, arguments) for number in range(arguments.nodes)]
        await grown.create(connection, pods)
        await scaledown_stage.until_bound(lives, len(pods))
        places = scaledown_stage.bound(lives)
        # Nodes are kept for a while for the pods they were bought for, and only machines that the
        # provider has listed are given back; wait until both apply to all nodes.
        await asyncio.sleep(max(Duration.parse(arguments.bind_wait).seconds, _LISTED) + 1.0)
    # On a busy machine, a node may have been marked before its first pod arrived; ignore that.
    async with watched(connection) as lives:
        for name in places:
            await connection.request("DELETE", f"{PODS}/{name}")
            await asyncio.sleep(apart)
        nodes = set(places.values())
        await lives.until(
            lambda: nodes <= lives.moments("node", "gone").keys(),
            f"{len(nodes)} nodes are gone",
            within=PATIENCE,
        )
    return [_spans(lives, places, node) for node in sorted(nodes)]


def alone(number: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """So large that the largest machine has no room for two."""
    return manifests.pod(f"alone-{number}", requests={"cpu": _LARGE[arguments.prices]})


def _spans(lives: Lives, places: Mapping[str, str], node: str) -> Spans:
    gone = lives.moments("pod", "gone")
    ended = max(gone[pod] for pod, place in places.items() if place == node)
    of_node = lives.of("node")[node].moments
    opened = lives.of("removal")[node].moments["created"]
    return {
        "to the mark": of_node["marked"] - ended,
        "mark to removal": opened - of_node["marked"],
        "removal to delete": of_node["gone"] - opened,
        "in all": of_node["gone"] - ended,
    }


def _table(spans: Sequence[Spans], idle_after: float) -> Iterator[str]:
    """Percentiles of each part, minus idleAfter."""
    waits = {"mark to removal": idle_after, "in all": idle_after}
    yield f"  {'':34} {'p50':>8} {'p90':>8} {'p99':>8} {'most':>8}"
    for part in spans[0]:
        found = [each[part] - waits.get(part, 0.0) for each in spans]
        title = f"{part}, beyond idleAfter" if part in waits else part
        yield f"  {title:34} {_row(found)}   ms"
    most = max(each["in all"] for each in spans) - idle_after
    yield f"  idleAfter + {most * 1000:.0f} ms at most (goal <= {_GOALS['going']})\n"


def _row(seconds: Sequence[float]) -> str:
    shown = [percentile(seconds, part) for part in (50, 90, 99)]
    return " ".join(f"{each * 1000:8.0f}" for each in (*shown, max(seconds)))


async def _coming_back(
    connection: Connection, arguments: argparse.Namespace, *, log: Path
) -> list[Spans]:
    """One pod after another, all on the same node: each arrives when the node is marked again."""
    await scaledown_stage.change_pool(connection, {"scaleDown": {"idleAfter": "1h"}})
    found = []
    for number in range(arguments.backs + 1):
        begun = time.time()
        async with watched(connection) as lives:
            pod = alone(number, arguments)
            await grown.create(connection, [pod])
            await scaledown_stage.until_bound(lives, 1)
            (name, node), *_ = scaledown_stage.bound(lives).items()
            # The node is bought for the first pod.
            if number:
                found.append(_back(lives, name, node, _decided(log, since=begun)))
        async with watched(connection) as lives:
            await connection.request("DELETE", f"{PODS}/{name}")
            await lives.until(
                partial(_is_marked, lives, node), f"{node} is marked", within=PATIENCE
            )
    return found


def _is_marked(lives: Lives, node: str) -> bool:
    return node in lives.moments("node", "marked")


def _decided(log: Path, *, since: float) -> list[tuple[float, str, str]]:
    return [each for each in decided(log, since=0) if each[0] >= since]


def _back(lives: Lives, pod: str, node: str, log: Sequence[tuple[float, str, str]]) -> Spans:
    """What happened when; the reconciler's own times are in its log, on the same clock."""
    of_pod, of_node = lives.of("pod")[pod].moments, lives.of("node")[node].moments
    planned = max(at for at, subject, _ in log if subject == node)
    return {
        "created to judged": of_pod["judged"] - of_pod["created"],
        "judged to decision": planned - of_pod["judged"],
        "decision to the mark's end": of_node["serves"] - planned,
        "judged to the mark's end": of_node["serves"] - of_pod["judged"],
        "mark's end to bound": of_pod["bound"] - of_node["serves"],
    }


def _backs(spans: Sequence[Spans]) -> Iterator[str]:
    yield f"  {'':34} {'p50':>8} {'p90':>8} {'p99':>8} {'most':>8}"
    for part in spans[0]:
        yield f"  {part:34} {_row([each[part] for each in spans])}   ms"
    shown = [each["judged to the mark's end"] * 1000 for each in spans]
    yield (
        f"  from the demand to the mark's end p50 {percentile(shown, 50):.0f}, at most"
        f" {max(shown):.0f} ms (goal <= {_GOALS['back']})\n"
    )
