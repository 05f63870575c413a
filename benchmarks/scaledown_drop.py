"""What a cluster costs after its load has dropped to 40 %, and how soon it settles.

The cost is compared with that of `growth plan` from scratch for the remaining pods. Moving pods has
a cost too, so evictions per remaining pod are counted.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks import grown, manifests, scaledown_stage
from benchmarks.lives import watched
from benchmarks.offline import plan_of
from benchmarks.scaledown_bill import bill_of
from benchmarks.scaledown_stage import load
from benchmarks.stages import percentile

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmarks.lives import Lives
    from benchmarks.scaledown_bill import Bill
    from kwok.clusters import LocalCluster

_LEFT: Final = 0.4
_NEAR: Final = 1.10
_IN_TIME: Final = 90.0
_LOOKS: Final = (0, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180)
"""Seconds after the drop at which the cost is reported."""
_PAUSE: Final = 0.5


class Dropped(NamedTuple):
    """The result of a drop."""

    lives: Lives
    since: float
    until: float
    bill: Bill
    plan: float
    bound: float
    left: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The size and the duration."""
    parser.add_argument("--pods", type=int, default=1000, metavar="N", help="pods before the drop")
    parser.add_argument(
        "--deployments", type=int, default=40, metavar="N", help="deployments of these pods"
    )
    parser.add_argument(
        "--budget", metavar="NODES", help="nodes disrupted at a time, such as 3 or 50%%"
    )
    parser.add_argument(
        "--steady",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds without a change at the end",
    )
    parser.add_argument(
        "--longest", type=float, default=300.0, metavar="S", help="maximum seconds after the drop"
    )


def measure(arguments: argparse.Namespace) -> None:
    """One drop, on a new cluster."""
    before = load()
    with scaledown_stage.a_cluster(arguments) as cluster:
        dropped = asyncio.run(_measure(cluster, arguments))
    print(f"{arguments.pods} pods drop to {dropped.left}; load {before} to {load()}")
    print("\n".join(_told(dropped)), flush=True)


def disruption(arguments: argparse.Namespace) -> dict[str, Any]:
    """The budget of the pool, if given."""
    if arguments.budget is None:
        return {}
    text: str = arguments.budget
    return {"disruption": {"budgets": [{"nodes": int(text) if text.isdigit() else text}]}}


async def _measure(cluster: LocalCluster, arguments: argparse.Namespace) -> Dropped:
    wanted = list(
        manifests.deployments(pods=arguments.pods, count=arguments.deployments, seed=arguments.seed)
    )
    offered = scaledown_stage.offered(arguments, **disruption(arguments))
    fewer = kept(scaledown_stage.replicas_of(wanted))
    cost, bound = plan_of([*offered[1:], *smaller(wanted, fewer)])
    async with grown.connected(cluster) as connection, watched(connection) as lives:
        await grown.create(connection, [*offered, *wanted])
        await scaledown_stage.until_bound(lives, arguments.pods)
        await scaledown_stage.rested(lives)
        since = time.time()
        await scaledown_stage.scale(connection, fewer)
        until = await _until_steady(lives, arguments, since=since)
    bill = bill_of(lives)
    return Dropped(lives, since, until, bill, cost, bound, sum(fewer.values()))


def kept(replicas: Mapping[str, int]) -> dict[str, int]:
    """The remaining share of each deployment, and of all of them together."""
    found, before, so_far = {}, 0, 0
    for name, count in sorted(replicas.items()):
        so_far += count
        found[name] = round(so_far * _LEFT) - before
        before += found[name]
    return found


def smaller(wanted: Iterable[dict[str, Any]], fewer: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """The same deployments with fewer pods."""
    for each in wanted:
        yield {**each, "spec": {**each["spec"], "replicas": fewer[each["metadata"]["name"]]}}


async def _until_steady(lives: Lives, arguments: argparse.Namespace, *, since: float) -> float:
    """Wait until nothing has changed for a while; returns the time of the last change."""
    while True:
        now = time.time()
        last = max([since, *scaledown_stage.changes(lives, since)])
        if now - last >= arguments.steady or now - since >= arguments.longest:
            return now
        await asyncio.sleep(_PAUSE)


def _told(found: Dropped) -> Iterator[str]:
    bill, since = found.bill, found.since
    before, after = bill.rate(since), bill.rate(found.until)
    new = sum(each.since > since for each in bill.paid)
    last = max([since, *scaledown_stage.changes(found.lives, since)]) - since
    yield (
        f"  {bill.count(since)} nodes at {before:.4f} became {bill.count(found.until)} at"
        f" {after:.4f} an hour ({new} new); the plan from scratch is {found.plan:.4f}, its bound"
        f" {found.bound:.4f}"
    )
    yield (
        f"  cost / plan from scratch: {after / found.plan:.3f} x (goal <= {_NEAR:.2f}), "
        f"/ bound {after / found.bound:.3f} x"
    )
    yield f"  over time: {', '.join(_course(found))}"
    yield (
        f"  within {_NEAR:.2f} x permanently after {_near_since(found)} (goal <= {_IN_TIME:.0f} s);"
        f" last change after {last:.0f} s, none in the {found.until - since - last:.0f} s since"
    )
    moved = [at for at in found.lives.moments("pod", "evicted").values() if at > since]
    yield (
        f"  {len(moved)} evictions, {len(moved) / found.left:.2f} per remaining pod (goal <= 0.4);"
        f" {_waited(found)}"
    )
    paid = bill.between(since, since + _IN_TIME) / (found.plan * _IN_TIME)
    yield f"  paid in the first {_IN_TIME:.0f} s: {paid:.2f} x the plan's\n"


def _course(found: Dropped) -> Iterator[str]:
    for seconds in _LOOKS:
        if found.since + seconds <= found.until:
            yield f"{seconds} s {found.bill.rate(found.since + seconds) / found.plan:.2f} x"


def _near_since(found: Dropped) -> str:
    """From when on the cost stayed near the plan's."""
    bill = found.bill
    changes = [found.since, *bill.changes(found.since, found.until)]
    near = None
    for at in reversed(changes):
        if bill.rate(at) > _NEAR * found.plan:
            break
        near = at
    return "never" if near is None else f"{near - found.since:.0f} s"


def _waited(found: Dropped) -> str:
    waits = pending(found.lives, since=found.since, until=found.until)
    if not waits:
        return "no pod was created"
    return f"new pods waited p50 {percentile(waits, 50):.2f}, p99 {percentile(waits, 99):.2f} s"


def pending(lives: Lives, *, since: float, until: float) -> Sequence[float]:
    """How long each pod created in this period waited for its node, or is still waiting."""
    return [
        life.moments.get("bound", life.moments.get("gone", until)) - life.moments["created"]
        for life in lives.of("pod").values()
        if since < life.moments["created"] < until
    ]
