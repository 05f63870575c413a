"""How soon demand is known: a line of the stream compared with the same event on a plain watch.

One process reads both, so the clock is the same. Single pods show the delay that the extender adds
to the watch. A burst of identical pods, with a scheduler with default limits, shows how soon all of
them are known, although the scheduler marks them one after another. Goals: 5 ms (median) and 30 ms
(p99) per line, 1 s after the last pod's creation for a burst.
"""

from __future__ import annotations

import asyncio
import os
import statistics
from typing import TYPE_CHECKING, Final

from benchmarks.demand_timing import Moments, burst, single_pods
from benchmarks.extender_live import a_cluster, extending
from growth.cli.scheduler_config.configuration import Reach, extended
from kwok.configuration import DEFAULT_SCHEDULER, SCHEDULER_API
from kwok.schedulers import scheduling

if TYPE_CHECKING:
    import argparse

    from benchmarks.extender_live import Extender
    from kwok.clusters import LocalCluster

DEFAULT_LIMITS: Final = f"apiVersion: {SCHEDULER_API}\nkind: KubeSchedulerConfiguration\n"
"""A scheduler with default settings writes 50 times per second."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--cluster", metavar="NAME", help="a running cluster, instead of a new one")
    parser.add_argument("--pods", type=int, default=300, help="single pods (default: %(default)s)")
    parser.add_argument(
        "--burst", type=int, default=1000, help="identical pods (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    print(f"load during the measurement: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    with (
        a_cluster(arguments.cluster) as cluster,
        extending(cluster.kubeconfig, cluster.folder / "extender.log") as extender,
    ):
        if arguments.pods:
            _print_lags(_of_single_pods(cluster, extender, arguments.pods))
        if arguments.burst:
            _print_burst(_of_a_burst(cluster, extender, arguments.burst), arguments.burst)


def _of_single_pods(cluster: LocalCluster, extender: Extender, count: int) -> Moments:
    configuration = extended(DEFAULT_SCHEDULER, Reach(url=f"http://{extender.verbs}"))
    with scheduling(cluster.kubeconfig, name="asking", configuration=configuration) as scheduler:
        return asyncio.run(single_pods(cluster, extender, scheduler=scheduler.name, count=count))


def _of_a_burst(cluster: LocalCluster, extender: Extender, count: int) -> Moments:
    configuration = extended(DEFAULT_LIMITS, Reach(url=f"http://{extender.verbs}"))
    with scheduling(cluster.kubeconfig, name="slow", configuration=configuration) as scheduler:
        return asyncio.run(burst(cluster, extender, scheduler=scheduler.name, count=count))


def _print_lags(moments: Moments) -> None:
    lags = sorted(moments.known[uid] - moments.marked[uid] for uid in moments.marked)
    p99 = lags[min(int(len(lags) * 0.99), len(lags) - 1)] * 1e3
    print(f"{len(lags)} single pods: delay of the stream compared with a plain watch")
    print(f"  median {statistics.median(lags) * 1e3:.2f} ms (goal 5), p99 {p99:.2f} ms (goal 30)")


def _print_burst(moments: Moments, count: int) -> None:
    last = max(moments.created.values())
    # One process reads both, in the order in which they arrive.
    known = max(max(moments.known.values()) - last, 0.0)
    marked = max(moments.marked.values()) - last
    creating = last - min(moments.created.values())
    ratio = (marked + creating) / (known + creating)
    print(f"{count} identical pods, created within {creating:.2f} s; after the last creation")
    print(f"  all were known as demand after      {known:6.2f} s (goal 1)")
    print(f"  the scheduler had marked them after {marked:6.2f} s")
    print(f"  since the first creation: {ratio:.1f} times as long")
