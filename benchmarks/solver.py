"""How cheap, how close to the bound and how fast: the solver with generated workloads.

Each workload is solved in three clusters: one that is `empty`; one with `nodes` of every fill; one
that is `living`, with nodes, pools of two weights, limits, a minimum and groups of which some pods
run already. One line per seed and cluster, and the medians. Prices are a generated list of 576
offers (`aws`) or the 57 offers of a real one (`hetzner`); `benchmarks/workloads.py` describes the
pods.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchmarks.living import with_nodes, with_rules
from benchmarks.memory import megabytes
from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort
from reconciler.solver.packing.solving import solve

if TYPE_CHECKING:
    from reconciler.solver import Plan, Problem

CLUSTERS = ("empty", "nodes", "living")
EFFORTS = tuple(effort.name.lower() for effort in Effort)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The result and the cost of one solve."""

    seed: int
    cluster: str
    cost: int
    bound: int
    gap: float
    unplaced: int
    nodes: int
    first_fit_cost: int
    first_plan_seconds: float
    first_plan_gap: float
    goal_seconds: float | None
    """When a plan within the wanted gap was known."""
    goal_effort: int | None
    seconds: float
    processor_seconds: float
    effort: int
    stop: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--catalogue", choices=("aws", "hetzner"), default="aws")
    parser.add_argument("--pods", choices=("kb", "heavy", "big"), default="kb")
    parser.add_argument("--constraints", choices=("on", "off"), default="on")
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, help="the first seed; default: drawn from the clock")
    parser.add_argument("--cluster", choices=CLUSTERS, action="append", help="default: all")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds")
    parser.add_argument(
        "--goal",
        type=float,
        default=1.0,
        metavar="PERCENT",
        help="report when this gap was reached",
    )
    parser.add_argument("--effort", choices=EFFORTS, default="normal")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    first = time.time_ns() % 1_000_000 if arguments.seed is None else arguments.seed
    seeds = range(first, first + arguments.seeds)
    clusters = arguments.cluster or CLUSTERS
    found = [_measure(arguments, seed, cluster) for seed in seeds for cluster in clusters]
    peak = megabytes("VmHWM")
    if arguments.output == "json":
        rows = [asdict(one) for one in found]
        print(json.dumps({"runs": rows, "peakMemoryMiB": round(peak)}, indent=2))
    else:
        _print_table(found, peak)
    return 0


def _measure(arguments: argparse.Namespace, seed: int, cluster: str) -> Measured:
    problem = workload(
        offers=catalogue(arguments.catalogue, seed),
        pods=arguments.pods,
        constraints=arguments.constraints,
        classes=arguments.classes,
        count=arguments.count,
        seed=seed,
    )
    problem = problem if cluster == "empty" else with_nodes(problem, seed)
    problem = problem if cluster != "living" else with_rules(problem, seed)
    effort = Effort[arguments.effort.upper()]
    return measured(problem, effort, seed=seed, cluster=cluster, goal=arguments.goal / 100)


def measured(
    problem: Problem, effort: Effort, *, seed: int, cluster: str = "empty", goal: float = 0.01
) -> Measured:
    """One solve, with its result and cost."""
    plans: list[tuple[float, Plan]] = []
    start, processor = time.perf_counter(), time.process_time()

    def watch(plan: Plan) -> None:
        plans.append((time.perf_counter() - start, plan))

    plan = solve(problem, effort, watch=watch)
    seconds, used = time.perf_counter() - start, time.process_time() - processor
    plans.append((seconds, plan))
    first_seconds, first = plans[0]
    met = next(((when, one.effort) for when, one in plans if one.gap <= goal), (None, None))
    return Measured(
        seed=seed,
        cluster=cluster,
        cost=plan.cost,
        bound=plan.bound,
        gap=plan.gap,
        unplaced=sum(one.count for one in plan.unplaced),
        nodes=len(plan.nodes),
        first_fit_cost=plan.first_fit_cost,
        first_plan_seconds=first_seconds,
        first_plan_gap=first.gap,
        goal_seconds=met[0],
        goal_effort=met[1],
        seconds=seconds,
        processor_seconds=used,
        effort=plan.effort,
        stop=plan.stop.value,
    )


def _met(one: Measured) -> str:
    if one.goal_seconds is None or one.goal_effort is None:
        return f"{'-':>11} {'-':>10}"
    return f"{one.goal_seconds:11.2f} {one.goal_effort / 1e6:9.2f}M"


HEADINGS = (
    "  seed cluster         cost       bound   gap %  first s  first gap %  goal met s      after"
    "  all s  cpu s  effort  first-fit"
)


def _print_table(found: list[Measured], peak: float) -> None:
    print(HEADINGS)
    for one in found:
        print(
            f"{one.seed:6} {one.cluster:7} {one.cost / 1e6:11.4f} {one.bound / 1e6:11.4f}"
            f" {one.gap * 100:7.2f}"
            f" {one.first_plan_seconds:8.2f} {one.first_plan_gap * 100:12.2f} {_met(one)}"
            f" {one.seconds:6.2f}"
            f" {one.processor_seconds:6.2f} {one.effort / 1e6:6.2f}M"
            f" {one.first_fit_cost / max(1, one.cost):7.2f} x  {one.stop}"
        )
    for cluster in CLUSTERS:
        some = [one for one in found if one.cluster == cluster]
        if some:
            print(_medians(cluster, some))
    print(f"peak memory {peak:.0f} MiB; load {os.getloadavg()[0]:.1f}")


def _medians(cluster: str, found: list[Measured]) -> str:
    gap = statistics.median(one.gap for one in found) * 100
    met = [one.goal_seconds for one in found if one.goal_seconds is not None]
    first = statistics.median(one.first_plan_seconds for one in found)
    seconds = statistics.median(one.seconds for one in found)
    used = statistics.median(one.processor_seconds for one in found)
    ratio = statistics.median(one.first_fit_cost / max(1, one.cost) for one in found)
    return (
        f"median, {cluster}: gap {gap:.2f} %, first plan {first:.2f} s, all {seconds:.2f} s,"
        f" cpu {used:.2f} s, first-fit {ratio:.2f} x; goal met by {len(met)} of {len(found)}"
        + (f", median after {statistics.median(met):.2f} s" if met else "")
    )


if __name__ == "__main__":
    own = argparse.ArgumentParser(description=__doc__)
    add_arguments(own)
    sys.exit(run(own.parse_args()))
