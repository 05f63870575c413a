"""Small problems with Hetzner's price list: how many are proven optimal, and how soon.

For each size, this many problems are generated. Those whose best plan has more than eight nodes are
counted separately, because there is no goal for them.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort, Stop
from reconciler.solver.packing.solving import solve

if TYPE_CHECKING:
    import argparse

PROMISED = 8
"""Nodes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--seeds", type=int, default=10, help="problems of each size")
    parser.add_argument("--effort", choices=("quick", "normal"), default="normal")


def run(arguments: argparse.Namespace) -> int:
    """Solve them, and print how many were proven."""
    offers = catalogue("hetzner", 0)
    effort = Effort[arguments.effort.upper()]
    print(
        "pods  kind   proven (of up to 8 nodes)  cpu s: median  most   largest gap of the others %"
    )
    for count in (10, 20, 30, 50):
        for pods in ("kb", "heavy", "big"):
            used, proven, of, gaps = [], 0, 0, [0.0]
            for seed in range(arguments.seeds):
                problem = workload(
                    offers=offers,
                    pods=pods,
                    constraints="on",
                    classes=min(10, count),
                    count=count,
                    seed=seed,
                )
                begun = time.process_time()
                plan = solve(problem, effort)
                if len(plan.nodes) > PROMISED:
                    continue
                used.append(time.process_time() - begun)
                of += 1
                if plan.stop is Stop.PROVEN:
                    proven += 1
                else:
                    gaps.append(plan.gap)
            if not used:
                continue
            print(
                f"{count:4}  {pods:5} {proven:8} of {of:2} {statistics.median(used):27.2f}"
                f" {max(used):6.2f} {max(gaps) * 100:12.2f}"
            )
    return 0
