"""Admission at 1,000 reviews per second on one core, compared with a server that does nothing.

Both use aiohttp over the same TLS, each in its own process on its own core, and take turns. Reviews
are sent from another core at fixed times, whether the last one was answered or not. Goals: p99 of 5
ms, and at most twice the p99 of the server that does nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.webhook_load import latencies
from benchmarks.webhook_pods import review
from benchmarks.webhook_server import WAYS, make_certificate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

GOAL_P99: Final = 5.0
GOAL_RATIO: Final = 2.0


class Round(NamedTuple):
    """One round of one server, in milliseconds."""

    median: float
    p99: float
    processor: float
    """CPU time of the server per review."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--rate", type=int, default=1000, help="reviews per second")
    parser.add_argument("--seconds", type=float, default=5, help="seconds per round")
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of each server; the best counts"
    )
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--pools", type=int, default=20)
    parser.add_argument(
        "--realtime",
        action="store_true",
        help="run with real-time priority (needs root), for a busy machine",
    )


def run(arguments: argparse.Namespace) -> None:
    """Measure in turns, and print."""
    body = review()
    print(
        f"{arguments.rate} reviews of {len(body) / 1000:.1f} KB per second over"
        f" {arguments.connections} connections, {arguments.pools} pools;"
        f" load of the machine {os.getloadavg()[0]:.1f}"
    )
    found: dict[str, list[Round]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(Path(folder))
        _keep_to(core=1, realtime=arguments.realtime)
        for _ in range(arguments.rounds):
            for way in WAYS:
                found[way].append(_round(way, Path(folder), body, arguments))
    best = {way: min(rounds, key=lambda each: each.p99) for way, rounds in found.items()}
    _print(found, best)


def _round(way: str, folder: Path, body: bytes, arguments: argparse.Namespace) -> Round:
    with _server(way, folder, arguments) as (process, port):
        measured = asyncio.run(
            latencies(
                body,
                port=port,
                authority=folder / "ca.crt",
                connections=arguments.connections,
                rate=arguments.rate,
                seconds=arguments.seconds,
            )
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        seconds = json.loads(process.stdout.readline())
    cuts = statistics.quantiles(measured, n=100)
    return Round(cuts[49] * 1e3, cuts[98] * 1e3, seconds / len(measured) * 1e3)


@contextlib.contextmanager
def _server(
    way: str, folder: Path, arguments: argparse.Namespace
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    words = [way, str(folder), str(arguments.pools), str(int(arguments.realtime))]
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.webhook_server", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.terminate()


def _keep_to(*, core: int, realtime: bool) -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[core % len(cores)]})
    if realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def _print(found: dict[str, list[Round]], best: dict[str, Round]) -> None:
    print(f"{'':22}{'p50':>8}{'p99':>8}{'CPU':>8}   p99 of all rounds")
    for way, label in WAYS.items():
        each = best[way]
        rounds = " ".join(f"{one.p99:.2f}" for one in found[way])
        print(f"{label:22}{each.median:8.2f}{each.p99:8.2f}{each.processor:8.2f}   {rounds}  (ms)")
    ours, bare = best["ours"], best["bare"]
    print(
        f"{'ratio':22}{ours.median / bare.median:8.2f}{ours.p99 / bare.p99:8.2f}"
        f"{ours.processor / bare.processor:8.2f}   goals: p99 {GOAL_P99:g} ms, ratio {GOAL_RATIO:g}"
    )
