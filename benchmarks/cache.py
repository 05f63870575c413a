"""The watch cache compared with the plain client's models: CPU, memory, event loop pauses.

It uses pods of about 9 KB on a real control plane, in the state in which growth sees most of them:
pending. Each client is a separate process and has the API server to itself. Goals: 20 times less
CPU time, 8 times less memory, no pause above 50 ms in a relist, 50 us per event.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchmarks.cache_clients import PATH, Figures
from benchmarks.cache_events import seconds_for_one
from benchmarks.cache_pods import create_pods
from growth.kube.transport import connect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

CLUSTER = "growth-benchmark"
EVENTS = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "--pods", type=int, default=5000, help="number of pods (default: %(default)s)"
    )
    parser.add_argument("--runs", type=int, default=3, help="runs of each client; the best counts")
    parser.add_argument("--kubeconfig", type=Path, help="a cluster to use instead of a new one")


def run(arguments: argparse.Namespace) -> None:
    """Create the pods, run the clients, and print both results."""
    with _cluster(arguments.kubeconfig) as kubeconfig:
        size = asyncio.run(_prepare(kubeconfig, arguments.pods))
        print(f"{arguments.pods} pods of {size / 1000:.1f} KB; best of {arguments.runs}")
        ours = _best("reflector", kubeconfig, arguments)
        _print_table(
            ours,
            models=_best("models", kubeconfig, arguments),
            watch=_best("watch", kubeconfig, arguments),
        )
        event = asyncio.run(_one_event(kubeconfig))
    print(
        f"longest pause of the event loop in a relist: {ours['blocked'] * 1e3:.1f} ms of real time,"
        f" {ours['blocked_cpu'] * 1e3:.1f} ms of CPU (goal 50)"
    )
    print(f"one event decoded, indexed and reported: {event * 1e6:.1f} us (goal 50)")


@contextmanager
def _cluster(kubeconfig: Path | None) -> Iterator[Path]:
    if kubeconfig is not None:
        yield kubeconfig
        return
    try:
        answer = _kwok("up", "--name", CLUSTER)
        yield Path(answer.splitlines()[-1].removeprefix("KUBECONFIG="))
    finally:
        _kwok("down", "--name", CLUSTER)


def _kwok(*words: str) -> str:
    command = [sys.executable, "-m", "kwok", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


async def _prepare(kubeconfig: Path, count: int) -> int:
    async with await connect(kubeconfig=kubeconfig, process="benchmark") as connection:
        return await create_pods(connection, count)


def _best(name: str, kubeconfig: Path, arguments: argparse.Namespace) -> Figures:
    """The run with the least CPU time, because disturbances only add to it."""
    runs = [_run_client(name, kubeconfig, arguments.pods) for _ in range(arguments.runs)]
    return min(runs, key=lambda figures: figures["cpu"])


def _run_client(name: str, kubeconfig: Path, pods: int) -> Figures:
    command = [sys.executable, "-m", "benchmarks.cache_clients", name, str(kubeconfig), str(pods)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: Figures = json.loads(answer.stdout)
    return figures


async def _one_event(kubeconfig: Path) -> float:
    async with await connect(kubeconfig=kubeconfig, process="benchmark") as connection:
        page = await connection.request("GET", PATH, query={"limit": str(EVENTS)}, timeout=60)
        pods: list[dict[str, Any]] = msgspec.json.decode(page.body)["items"]
    return await seconds_for_one(pods)


def _print_table(ours: Figures, *, models: Figures, watch: Figures) -> None:
    print(f"{'':34}{'growth':>9}{'list':>9}{'watch':>9}{'ratio':>15}   goal")
    for field, label, unit, goal in (
        ("cpu", "CPU time of the client, s", 1.0, "20"),
        ("wall", "wall time, s", 1.0, ""),
        ("held", "memory held for the pods, MB", 1.0, "8"),
        ("peak", "maximum memory for the pods, MB", 1.0, "8"),
        ("process", "maximum of the whole process, MB", 1.0, ""),
    ):
        mine, listed, watched = (figures[field] * unit for figures in (ours, models, watch))
        ratios = f"{listed / mine:.1f} / {watched / mine:.1f}"
        print(f"{label:34}{mine:9.2f}{listed:9.2f}{watched:9.2f}{ratios:>15}   {goal}")
