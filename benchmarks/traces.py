"""Real workloads, planned with both price lists: their cost, compared with the bound.

Snapshots of clusters are read from the folder that GROWTH_TRACES names; without it there is nothing
to plan. One line per snapshot and price list.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchmarks.snapshots import UNSET, problem_of, snapshots
from benchmarks.solver import EFFORTS, measured
from benchmarks.workloads import catalogue
from reconciler.solver import Effort

if TYPE_CHECKING:
    import argparse

    from benchmarks.solver import Measured

HEADINGS = (
    "snapshot           list      pods  classes  nodes       cost      bound  gap %  first-fit"
    "  cpu s  stop"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--effort", choices=EFFORTS, default="normal")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")


def run(arguments: argparse.Namespace) -> int:
    """Plan every snapshot, and print the results."""
    found = snapshots()
    if not found:
        print(f"skipped: {UNSET}")
        return 0
    rows = []
    for name, path in found.items():
        for listed in ("aws", "hetzner"):
            problem = problem_of(path, catalogue(listed, 0))
            pods = sum(one.count for one in problem.classes)
            one = measured(problem, Effort[arguments.effort.upper()], seed=0)
            rows.append((name, listed, pods, len(problem.classes), one))
    if arguments.output == "json":
        print(json.dumps([{"snapshot": row[0], "list": row[1], **asdict(row[4])} for row in rows]))
    else:
        print("\n".join([HEADINGS, *(_line(*row) for row in rows)]))
    return 0


def _line(name: str, listed: str, pods: int, classes: int, one: Measured) -> str:
    left = f"  {one.unplaced} without a place" if one.unplaced else ""
    return (
        f"{name:18} {listed:8} {pods:5} {classes:8} {one.nodes:6} {one.cost / 1e6:10.4f}"
        f" {one.bound / 1e6:10.4f} {one.gap * 100:6.2f} {one.first_fit_cost / one.cost:8.2f} x"
        f" {one.processor_seconds:6.2f}  {one.stop}{left}"
    )
