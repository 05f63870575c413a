"""A recorded day in the simulated world, under each scaling policy: machines, cost, waits, moves.

Every pod of the trace begins and ends when it did; one that is evicted begins again elsewhere. Cost
is compared with the bound of a clairvoyant, who knows the pods of each moment and moves them for
free. What pods use isn't recorded, so each uses a fixed share of what it requests.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import structlog

from benchmarks.policies_day import SCALING, day_played
from benchmarks.stages import percentile
from benchmarks.traced import PodSize, bound_over_time, traced_pods

if TYPE_CHECKING:
    import argparse

    from benchmarks.policies_day import Day

SOLD: Final = ("cx23", "cx33", "cx43", "cx53")
LARGEST: Final = PodSize(8_000, 28_000)
"""What a pod may request so that the largest of these types has room for it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--trace", default="azure2017-dev-24h", help="a file of GROWTH_TRACES")
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--one-of", type=int, default=150, help="one app in so many is kept")
    parser.add_argument("--use", type=int, default=60, help="percent of its requests a pod uses")
    parser.add_argument("--policy", choices=list(SCALING), action="append", help="only this one")


def run(arguments: argparse.Namespace) -> None:
    """Play the day, and print a line for each."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    until = arguments.hours * 3600
    pods = traced_pods(arguments.trace, one_of=arguments.one_of, until=until, largest=LARGEST)
    bound = bound_over_time(pods, SOLD, until=until)
    print(
        f"{len(pods)} pods of {arguments.trace}, {arguments.hours:g} hours; the clairvoyant's bound"
        f" is {bound:.2f}"
    )
    print("  policy        nodes (most)   cost / bound   wait p50    p99  left  evictions")
    for policy in arguments.policy or SCALING:
        day = day_played(pods, policy=policy, types=SOLD, until=until, use=arguments.use)
        print(_line(policy, day, bound), flush=True)


def _line(policy: str, day: Day, bound: float) -> str:
    return (
        f"  {policy:12} {day.mean_nodes:6.1f} ({day.most_nodes:3}) {day.paid:7.2f}"
        f" {day.paid / bound:6.2f} x {percentile(day.waits, 50):8.1f} s"
        f" {percentile(day.waits, 99):5.0f} s {day.left:4} {day.moved:10}"
        f"  ({day.seconds:.0f} CPU s)"
    )
