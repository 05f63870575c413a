"""The extender next to kube-scheduler: how long its calls take, and their effect on throughput.

A plain socket calls the verbs; the result is compared with a server that reads nothing and always
sends the same answer. Throughput is measured with two schedulers in one cluster, one with and one
without the extender, in turns: all pods are pending before a scheduler starts, and the time from
its first binding to its last is measured.

Goals: filter 1 ms and prioritize 2 ms at 1,000 nodes (p99), and four fifths of the throughput. On a
busy machine, the slowest of a hundred answers only shows how long processes wait for a CPU; run the
command with chrt -f 10 to measure the calls anyway.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from benchmarks.extender_live import a_cluster
from benchmarks.extender_throughput import compare
from benchmarks.extender_verbs import FLOOR, answering, latencies, node_names, question

if TYPE_CHECKING:
    import argparse

GOALS: Final = {"filter": 1.0, "prioritize": 2.0}
"""Milliseconds at 1,000 nodes, for the slowest of a hundred."""
SIZES: Final = (100, 1000, 5000)
PARTS: Final = ("verbs", "throughput")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--only", choices=PARTS, help="only one of the parts (default: both)")
    parser.add_argument("--cluster", metavar="NAME", help="a running cluster, instead of a new one")
    parser.add_argument("--questions", type=int, default=2000, help="calls per figure")
    parser.add_argument("--pods", type=int, default=1000, help="pods per run")
    parser.add_argument("--nodes", type=int, default=100, help="nodes for these pods")
    parser.add_argument("--runs", type=int, default=5, help="runs of each scheduler; medians count")


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    print(f"load during the measurement: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    if arguments.only in {None, "verbs"}:
        _measure_verbs(arguments.questions)
    if arguments.only in {None, "throughput"}:
        with a_cluster(arguments.cluster) as cluster:
            compare(cluster, pods=arguments.pods, nodes=arguments.nodes, runs=arguments.runs)


def _measure_verbs(times: int) -> None:
    print(f"{'ms: median / p99':24}{'floor':>16}{'growth':>16}{'ratio':>8}   goal (p99)")
    for size in SIZES:
        names = node_names(size)
        body = question(names)
        with answering(FLOOR) as floor, answering(str(size)) as growth:
            for verb, goal in GOALS.items():
                least = latencies(floor, verb, body, times=times)
                found = latencies(growth, verb, body, times=times)
                print(
                    f"{verb:11}{size:6} nodes "
                    f"{least.median:8.3f} /{least.p99:6.2f}{found.median:8.3f} /{found.p99:6.2f}"
                    f"{found.median / least.median:8.1f}   {goal if size == 1000 else ''}"
                )
