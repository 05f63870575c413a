"""Does the cluster get what was planned? Machines in the end, divided by planned machines.

The real scheduler binds 300 mixed pods to machines that boot in 5 to 15 s, with and without the
extender. A second purchase is a machine for more pods of a workload than it has: some of them had
been bought for before, whether they existed then or were only announced. The bound is `growth
plan`'s for the same manifests.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks import grown, manifests
from benchmarks.lives import watched
from benchmarks.offline import bound_of
from kwok import growing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.lives import Lives
    from kwok.clusters import LocalCluster

_PATIENCE: Final = 240.0
_BOOTS: Final = {"bootDelay": {"min": "5s", "max": "15s"}}
_WITHOUT: Final = ("webhooks", "reconciler")


class Ending(NamedTuple):
    """The result of one seed."""

    planned: int
    machines: int
    cost: float
    bound: float

    @property
    def ratio(self) -> float:
        """Machines in the end, divided by planned machines."""
        return self.machines / self.planned


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fidelity`."""
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="seeds 1 to N")
    parser.add_argument("--pods", type=int, default=300, metavar="N")
    parser.add_argument(
        "--deployments", type=int, default=20, metavar="N", help="deployments of these pods"
    )
    parser.add_argument("--prices", choices=("aws", "hetzner"), default="hetzner")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    for title, processes in (("with the extender", ()), ("without it", _WITHOUT)):
        endings = []
        for seed in range(1, arguments.seeds + 1):
            endings.append(_measured(arguments, seed, processes))
            print(f"  {title}, seed {seed}: {_line(endings[-1])}", flush=True)
        print(
            f"  {title}: median {median(each.ratio for each in endings):.3f} machines per"
            f" planned one (<= 1.03), cost {median(each.cost / each.bound for each in endings):.3f}"
            f" x the bound; load {os.getloadavg()[0]:.1f}\n",
            flush=True,
        )
    return 0


def _line(ending: Ending) -> str:
    return (
        f"{ending.planned} planned, {ending.machines} in the end"
        f" ({ending.machines - ending.planned} second purchases),"
        f" {ending.cost / ending.bound:.3f} x the bound"
    )


def _measured(arguments: argparse.Namespace, seed: int, processes: Sequence[str]) -> Ending:
    offered = manifests.class_and_pool(arguments.prices, seed=seed, spec=_BOOTS)
    pods, count = arguments.pods, arguments.deployments
    wanted = list(manifests.deployments(pods=pods, count=count, seed=seed))
    bound = bound_of([*offered, *wanted])
    with grown.a_cluster("fidelity", *(() if processes else ("--growth",))) as cluster:
        if processes:
            growing.install(cluster)
            growing.start_growth(cluster, processes)
        requests = asyncio.run(_requests(cluster, offered, wanted))
    second = second_purchases(
        (each["spec"] for each in requests),
        {each["metadata"]["name"]: each["spec"]["replicas"] for each in wanted},
    )
    return Ending(
        planned=len(requests) - second,
        machines=len(requests),
        cost=sum(float(each["spec"]["price"]) for each in requests),
        bound=bound,
    )


async def _requests(
    cluster: LocalCluster, offered: Iterable[dict[str, Any]], wanted: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """All machines bought until every pod is bound, in order."""
    count = sum(each["spec"]["replicas"] for each in wanted)
    async with grown.connected(cluster) as connection:
        await grown.create(connection, [manifests.control_plane(), *offered])
        async with watched(connection) as lives:
            await grown.create(connection, wanted)
            await lives.until(
                lambda: len(lives.moments("pod", "bound")) >= count,
                f"{count} pods are bound",
                within=_PATIENCE,
            )
            return _in_order(lives)


def _in_order(lives: Lives) -> list[dict[str, Any]]:
    found = sorted(lives.of("request").values(), key=lambda life: life.moments["created"])
    return [life.newest for life in found]


def second_purchases(specs: Iterable[dict[str, Any]], wanted: Mapping[str, int]) -> int:
    """Requests for pods of a workload for which machines had already been bought."""
    bought: Counter[str] = Counter()
    count = 0
    for spec in specs:
        more = Counter({each["name"]: each["pods"] for each in spec.get("workloads", ())})
        bought += more
        count += any(bought[name] > wanted[name] for name in more)
    return count
