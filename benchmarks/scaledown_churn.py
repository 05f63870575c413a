"""The cost of a cluster whose load always changes, compared with the lowest possible cost.

Every few seconds some deployments are scaled at random. The clairvoyant pays at each moment the
bound of the cheapest plan for exactly the pods that are alive, computed afterwards from what the
watches saw. The same seed gives the same load.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks import grown, manifests, scaledown_stage
from benchmarks.lives import watched
from benchmarks.scaledown_bill import Clairvoyant, alive, bill_of
from benchmarks.scaledown_drop import disruption, pending
from benchmarks.scaledown_stage import load
from benchmarks.stages import percentile

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from benchmarks.lives import Lives
    from kwok.clusters import LocalCluster

_AT_ONCE: Final = 6
"""Deployments that are scaled in one step."""
APART: Final = 5.0
"""Seconds between two steps."""
_MOST: Final = 2.0
"""No deployment is scaled to more than this many times its original replicas."""


class Churned(NamedTuple):
    """The result of some minutes."""

    lives: Lives
    since: float
    until: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The size and the duration."""
    parser.add_argument("--churn-pods", type=int, default=400, metavar="N", help="pods at first")
    parser.add_argument("--churn-deployments", type=int, default=30, metavar="N")
    parser.add_argument("--churn-seconds", type=float, default=180.0, metavar="S")


def measure(arguments: argparse.Namespace) -> None:
    """Some minutes of churn, on a new cluster."""
    before = load()
    with scaledown_stage.a_cluster(arguments) as cluster:
        churned = asyncio.run(_measure(cluster, arguments))
    seconds = churned.until - churned.since
    print(f"{seconds:.0f} s of churn, seed {arguments.seed}; load {before} to {load()}")
    print("\n".join(_told(churned, arguments)), flush=True)


async def _measure(cluster: LocalCluster, arguments: argparse.Namespace) -> Churned:
    wanted = list(
        manifests.deployments(
            pods=arguments.churn_pods, count=arguments.churn_deployments, seed=arguments.seed
        )
    )
    offered = scaledown_stage.offered(arguments, **disruption(arguments))
    at_first = scaledown_stage.replicas_of(wanted)
    async with grown.connected(cluster) as connection, watched(connection) as lives:
        await grown.create(connection, [*offered, *wanted])
        await scaledown_stage.until_bound(lives, arguments.churn_pods)
        await scaledown_stage.rested(lives)
        since = time.time()
        for due, step in enumerate(steps(at_first, arguments)):
            await asyncio.sleep(since + due * APART - time.time())
            await scaledown_stage.scale(connection, step)
        await asyncio.sleep(APART)
        return Churned(lives, since, time.time())


def steps(
    at_first: Mapping[str, int], arguments: argparse.Namespace
) -> Iterator[Mapping[str, int]]:
    """Which deployment is scaled to what, step by step."""
    chance = random.Random(arguments.seed)
    names = sorted(at_first)
    for _ in range(round(arguments.churn_seconds / APART)):
        chosen = chance.sample(names, min(_AT_ONCE, len(names)))
        yield {name: chance.randint(0, round(_MOST * at_first[name])) for name in chosen}


def _told(found: Churned, arguments: argparse.Namespace) -> Iterator[str]:
    lives, since, until = found
    clairvoyant = Clairvoyant(
        prices=arguments.prices,
        seed=arguments.seed,
        pods=arguments.churn_pods,
        deployments=arguments.churn_deployments,
    )
    bill = bill_of(lives)
    paid = bill.between(since, until)
    planned, bound = clairvoyant.between(lives, since, until)
    at_end = clairvoyant.plan(alive(lives, until)).bound / 1e6
    came = sum(since < each.since for each in bill.paid)
    went = sum(since < each.until < until for each in bill.paid)
    yield (
        f"  cost over time {paid / 3600:.4f}, the clairvoyant's bound {bound / 3600:.4f}:"
        f" {paid / bound:.3f} x (goal <= 1.25); its plans {planned / 3600:.4f}:"
        f" {paid / planned:.3f} x"
    )
    yield (
        f"  in the end {bill.rate(until):.4f} an hour, the bound then {at_end:.4f}:"
        f" {bill.rate(until) / at_end:.2f} x; {came} nodes came, {went} went"
    )
    waits = pending(lives, since=since, until=until)
    moved = sum(at > since for at in lives.moments("pod", "evicted").values())
    yield (
        f"  {len(waits)} new pods waited p50 {percentile(waits, 50):.2f}, p99"
        f" {percentile(waits, 99):.2f} s (goal <= 3); {moved} evictions (goal <= 70)\n"
    )
