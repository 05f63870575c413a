"""How long pods wait for machines that boot instantly: a single pod, and a burst of a thousand.

It uses a real control plane with simulated machines. A burst is compared with the floor: the time
that the same control plane needs for the same pods if the same machines already exist, empty and
twice as large (a scheduler alone packs worse than a plan), with growth stopped and a scheduler
without an extender. Each round has its own cluster, in which growth is measured first and the floor
second. The bound is `growth plan`'s for the same manifests.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks import grown, manifests
from benchmarks.lives import watched
from benchmarks.offline import bound_of
from benchmarks.stages import decided, moments_of, percentile, table
from kwok import growing, schedulers
from kwok.configuration import DEFAULT_SCHEDULER

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from benchmarks.lives import Lives
    from benchmarks.stages import Moments
    from growth.kube.transport import Connection
    from kwok.clusters import LocalCluster

_PATIENCE: Final = 180.0
_PLAIN: Final = "plain"
PEERS: Final = """\
  for comparison, measured on such a control plane on 18 Nov 2026 (2 busy cores, 576 offers):
    a single pod bound    Karpenter 1.14 2.1 s (1.2 s with idle 0), Cluster Autoscaler 1.36 10.4 s
    1,000 pods / floor   Karpenter 3.4 x, Cluster Autoscaler 5 x
    cost / bound         Karpenter 1.33 to 1.70, Cluster Autoscaler 1.9 to 4.5"""


class Burst(NamedTuple):
    """The result of one round."""

    seconds: float
    floor: float
    cost: float
    machines: int
    stages: list[Moments]
    used: dict[str, float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `latency`."""
    parser.add_argument("--singles", type=int, default=30, metavar="N", help="single pods")
    parser.add_argument("--bursts", type=int, default=3, metavar="N", help="rounds of a burst")
    parser.add_argument("--pods", type=int, default=1000, metavar="N", help="pods of a burst")
    parser.add_argument(
        "--deployments", type=int, default=40, metavar="N", help="deployments of these pods"
    )
    parser.add_argument("--prices", choices=("aws", "hetzner"), default="aws")
    parser.add_argument("--seed", type=int, default=1, help="seed for pods and prices")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    if arguments.singles:
        with grown.a_cluster("latency", "--growth") as cluster:
            asyncio.run(_singles(cluster, arguments))
    if arguments.bursts:
        _bursts(arguments)
    print(PEERS)
    return 0


async def _singles(cluster: LocalCluster, arguments: argparse.Namespace) -> None:
    log = cluster.folder / "growth.log"
    async with grown.connected(cluster) as connection:
        await grown.create(connection, _offered(arguments))
        async with watched(connection) as lives:
            before = log.stat().st_size
            for number in range(arguments.singles):
                # Each pod needs a whole machine, so it never fits where the last one went.
                alone = manifests.pod(f"alone-{number}", requests={"cpu": "40"})
                await grown.create(connection, [alone])
                name = alone["metadata"]["name"]
                await lives.until(
                    partial(_is_bound, lives, name), f"{name} is bound", within=_PATIENCE
                )
                await asyncio.sleep(0.2)
            pods = list(moments_of(lives, decided(log, since=before)))
    _print_singles(pods, arguments.singles)


def _is_bound(lives: Lives, pod: str) -> bool:
    return pod in lives.moments("pod", "bound")


def _print_singles(pods: Sequence[Moments], count: int) -> None:
    print(f"{count} single pods, one after another; load {_load()}")
    print("\n".join(table(pods)))
    requested = [each["requested"] * 1000 for each in pods]
    bound = [each["bound"] * 1000 for each in pods]
    print(
        f"  request after p50 {percentile(requested, 50):.0f} (<= 80),"
        f" p99 {percentile(requested, 99):.0f} ms (<= 300)"
    )
    print(
        f"  bound after p50 {percentile(bound, 50):.0f},"
        f" p99 {percentile(bound, 99):.0f} ms (<= 500)\n"
    )


def _bursts(arguments: argparse.Namespace) -> None:
    offered = [*_offered(arguments), *_wanted(arguments)]
    bound = bound_of(offered)
    bursts = []
    for number in range(arguments.bursts):
        with grown.a_cluster("latency", "--growth") as cluster:
            burst = asyncio.run(_burst(cluster, arguments))
        bursts.append(burst)
        print(
            f"round {number + 1}: last of {arguments.pods} pods bound after {burst.seconds:.1f} s,"
            f" floor {burst.floor:.1f} s: {burst.seconds / burst.floor:.2f} x;"
            f" {burst.machines} machines at {burst.cost / bound:.3f} x the bound; load {_load()}"
        )
        used = sorted(burst.used.items(), key=lambda pair: -pair[1])
        print("  CPU seconds: " + ", ".join(f"{name} {spent:.1f}" for name, spent in used))
    print("\n".join(table([each for burst in bursts for each in burst.stages])))
    print(
        f"  median {median(each.seconds / each.floor for each in bursts):.2f} x the floor (<= 1.8,"
        f" reach 1.5), cost {median(each.cost / bound for each in bursts):.3f} x"
        f" the bound of {bound:.4f} (<= 1.05)\n"
    )


def _offered(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    return manifests.class_and_pool(arguments.prices, seed=arguments.seed)


def _wanted(
    arguments: argparse.Namespace, spec: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    pods, count = arguments.pods, arguments.deployments
    return list(manifests.deployments(pods=pods, count=count, seed=arguments.seed, spec=spec))


async def _burst(cluster: LocalCluster, arguments: argparse.Namespace) -> Burst:
    log = cluster.folder / "growth.log"
    async with grown.connected(cluster) as connection:
        await grown.create(connection, [manifests.control_plane(), *_offered(arguments)])
        before, used = log.stat().st_size, grown.cpu_seconds(cluster)
        async with watched(connection) as lives:
            seconds = await _until_bound(connection, lives, _wanted(arguments))
            after = grown.cpu_seconds(cluster)
            stages = list(moments_of(lives, decided(log, since=before)))
            requests = [life.newest["spec"] for life in lives.of("request").values()]
        growing.stop(cluster)
        floor = await _floor(connection, cluster, arguments)
    return Burst(
        seconds=seconds,
        floor=floor,
        cost=sum(float(spec["price"]) for spec in requests),
        machines=len(requests),
        stages=stages,
        used={name: spent - used.get(name, 0.0) for name, spent in after.items()},
    )


async def _floor(
    connection: Connection, cluster: LocalCluster, arguments: argparse.Namespace
) -> float:
    """The same pods again, on the same machines, which exist, are empty, and are twice as large."""
    growing.run_kubectl(cluster, "delete", "mutatingwebhookconfigurations", "--all")
    await grown.delete_all(connection, "Deployment")
    await grown.gone(connection, "Pod")
    await grown.double_the_room(connection)
    configuration = DEFAULT_SCHEDULER
    with schedulers.scheduling(cluster.kubeconfig, name=_PLAIN, configuration=configuration):
        async with watched(connection) as lives:
            wanted = _wanted(arguments, {"schedulerName": _PLAIN})
            return await _until_bound(connection, lives, wanted)


async def _until_bound(
    connection: Connection, lives: Lives, wanted: Sequence[dict[str, Any]]
) -> float:
    """From the first pod to the binding of the last."""
    count = sum(each["spec"]["replicas"] for each in wanted)
    await grown.create(connection, wanted)
    await lives.until(
        lambda: len(lives.moments("pod", "bound")) >= count,
        f"{count} pods are bound",
        within=_PATIENCE,
    )
    bound = lives.moments("pod", "bound")
    return max(bound.values()) - min(lives.moments("pod", "created").values())


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"
