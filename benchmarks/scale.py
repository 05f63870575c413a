"""Memory, CPU and API requests of each process in a large cluster: 5,000 nodes, 150,000 pods.

The real reconciler and the real extender start against an API server that makes its objects from
templates (benchmarks/scale_server.py), one after the other. Nothing is pending, and kubelets write
their Nodes every five minutes. Goals: reconciler 1.5 GiB, extender 1 GiB, a pass 250 ms.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.extender_verbs import latencies, question
from benchmarks.scale_objects import machine_name
from benchmarks.scale_server import COUNTED
from kwok.ports import free_port
from kwok.processes import PROC

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

GOALS: Final = {"reconciler": 1536.0, "extender": 1024.0}
"""MiB at most, with children."""
GOAL_PASS: Final = 250.0
"""Milliseconds."""
HEARTBEAT: Final = 300.0
"""Seconds between two writes of a kubelet to its Node: nodeStatusReportFrequency."""
WITHIN: Final = 900.0
TICKS: Final = os.sysconf("SC_CLK_TCK")
PASSES: Final = "growth_pass_seconds"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--rest", type=float, default=120.0, help="seconds to watch it at rest")
    parser.add_argument("--only", choices=sorted(GOALS))


def run(arguments: argparse.Namespace) -> None:
    """Measure each process, and print."""
    print(f"{arguments.nodes} nodes, {arguments.pods} pods, {os.cpu_count()} processors")
    for name in (arguments.only,) if arguments.only else GOALS:
        with tempfile.TemporaryDirectory() as folder, serving(arguments) as server:
            _measure(name, server, Path(folder), arguments)


class Running(NamedTuple):
    """A process under measurement, and where it answers."""

    name: str
    pid: int
    metrics: str
    verbs: str
    server: str

    def memory(self, field: str) -> float:
        """MiB of the process and its children: `VmRSS` now, `VmHWM` at most."""
        return sum(_status(pid, field) for pid in (self.pid, *children(self.pid)))

    def processor(self) -> float:
        """Seconds of the process and its children."""
        return sum(_processor(pid) for pid in (self.pid, *children(self.pid)))

    def passes(self) -> tuple[float, float]:
        """Number of passes, and the seconds that they took."""
        found = _samples(self.metrics)
        return found.get(f"{PASSES}_count", 0.0), found.get(f"{PASSES}_sum", 0.0)


@contextmanager
def serving(arguments: argparse.Namespace) -> Iterator[str]:
    """The API server as a process of its own; yields its address."""
    words = (str(arguments.nodes), str(arguments.pods), str(HEARTBEAT))
    command = [sys.executable, "-m", "benchmarks.scale_server", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def _running(name: str, server: str, folder: Path) -> Iterator[Running]:
    config = folder / "kubeconfig"
    config.write_text(_kubeconfig(server))
    metrics, verbs = (f"127.0.0.1:{free_port()}" for _ in range(2))
    words = ["--kubeconfig", str(config), "--metrics-address", metrics]
    if name == "extender":
        words += ["--verbs-address", verbs, "--demand-address", "127.0.0.1:0"]
    settings = {"GROWTH_CERTIFICATES": "external"} if name == "reconciler" else {}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", name, *words],
            env={**os.environ, **settings},
            stdout=log,
            stderr=log,
        )
    try:
        yield Running(name, process.pid, metrics, verbs, server)
    finally:
        process.terminate()
        process.wait()


def _measure(name: str, server: str, folder: Path, arguments: argparse.Namespace) -> None:
    began = time.monotonic()
    with _running(name, server, folder) as at:
        _until_it_works(at, folder)
        took = time.monotonic() - began
        print(
            f"{name}: at work after {took:.0f} s and {at.processor():.1f} s of processor time, "
            f"{_all_bytes(server) / 1e6:.0f} MB read"
        )
        first = at.passes()
        if name == "extender":
            _ask_verbs(at, nodes=arguments.nodes)
        _watch_at_rest(at, first, seconds=arguments.rest)


def _until_it_works(at: Running, folder: Path) -> None:
    end = time.monotonic() + WITHIN
    while time.monotonic() < end:
        if _is_ready(at) and (at.name != "reconciler" or at.passes()[0] > 1):
            return
        time.sleep(0.2)
    sys.exit(f"{at.name} isn't ready: {(folder / 'log').read_text()[-2000:]}")


def _is_ready(at: Running) -> bool:
    try:
        with urllib.request.urlopen(f"http://{at.metrics}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _ask_verbs(at: Running, *, nodes: int) -> None:
    body = question([machine_name(number) for number in range(nodes)])
    for verb in ("filter", "prioritize"):
        found = latencies(at.verbs, verb, body, times=300)
        print(
            f"  {verb:11} of {nodes} nodes   median {found.median:.2f} ms   p99 {found.p99:.2f} ms"
        )


def _watch_at_rest(at: Running, first: tuple[float, float], *, seconds: float) -> None:
    counted, used, (number, took) = _counted(at.server), at.processor(), at.passes()
    time.sleep(seconds)
    after, minutes = _counted(at.server), seconds / 60
    print(
        f"  memory   maximum {at.memory('VmHWM'):.0f} MiB, at rest {at.memory('VmRSS'):.0f} MiB"
        f"   goal {GOALS[at.name]:.0f}"
    )
    print(f"  at rest  {(at.processor() - used) / seconds:.1%} of a processor")
    if at.name == "reconciler":
        _tell_passes(at, first, since=(number, took), minutes=minutes)
    for what in sorted(after["asked"].keys() | after["bytes"].keys()):
        asked = _grown("asked", what, counted, after) / minutes
        size = _grown("bytes", what, counted, after) / minutes
        if asked or size:
            print(f"  a minute {what:28} {asked:7.1f} requests {size / 1e6:9.3f} MB")


def _tell_passes(
    at: Running, first: tuple[float, float], *, since: tuple[float, float], minutes: float
) -> None:
    number, took = at.passes()
    passes, seconds = number - since[0], took - since[1]
    print(
        f"  passes   the first {first[0]:.0f} took {first[1] / first[0] * 1e3:.0f} ms each; "
        f"{passes / minutes:.0f} a minute, {seconds / max(passes, 1.0) * 1e3:.0f} ms each"
        f"   goal {GOAL_PASS:.0f} ms"
    )
    buckets = {
        key.partition(" ")[2]: value
        for key, value in _samples(at.metrics, bounds=True).items()
        if key.startswith(f"{PASSES}_bucket")
    }
    print(f"           of all, by bound in seconds: {buckets}")


def _grown(kind: str, what: str, before: Any, after: Any) -> float:
    return float(after[kind].get(what, 0) - before[kind].get(what, 0))


def _counted(server: str) -> Any:
    with urllib.request.urlopen(server + COUNTED, timeout=60) as answer:
        return json.loads(answer.read())


def _all_bytes(server: str) -> int:
    return sum(_counted(server)["bytes"].values())


def _samples(metrics: str, *, bounds: bool = False) -> dict[str, float]:
    """The metrics of a process that have no label; with `bounds`, those with the label `le`."""
    with urllib.request.urlopen(f"http://{metrics}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    return {
        f"{sample.name} {sample.labels['le']}" if bounds else sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if (set(sample.labels) == {"le"} if bounds else not sample.labels)
    }


def children(pid: int) -> tuple[int, ...]:
    """All processes below a process."""
    mine = (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()
    found = tuple(map(int, mine))
    return found + tuple(below for each in found for below in children(each))


def _status(pid: int, field: str) -> float:
    lines = (PROC / str(pid) / "status").read_text("utf-8").splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field)), 0.0)


def _processor(pid: int) -> float:
    fields = (PROC / str(pid) / "stat").read_text("utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / TICKS


def _kubeconfig(server: str) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "scale",
            "contexts": [{"name": "scale", "context": {"cluster": "scale", "user": "scale"}}],
            "clusters": [{"name": "scale", "cluster": {"server": server}}],
            "users": [{"name": "scale", "user": {}}],
        }
    )
