"""The extender in a crowd: how long a call takes while 200 clients use its other ports.

One client asks /filter alone, and then while 200 others ask for the metrics and the demand without
end, on connections that they keep or open anew. They come from several addresses, because one alone
is let in 32 times, and have a lower priority, because clients elsewhere would need no processor of
this machine; how many answers they get is shown. Both are measured in turns and shown beside each
other, because the machine decides about much of it. Then a waiting gang, about whose pods
Kubernetes 1.36 asks thousands of times a second: how much processor time a call takes, and how far
the memory grows. Goals: p99 5 ms in the crowd, 0.2 ms of processor time for a call, flat memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from typing_extensions import override

from benchmarks.extender_verbs import latencies, node_names, question, verbs_of
from benchmarks.processor_time import used_by
from extender.demand import DemandFeed
from extender.front.keeping import FrontKeeper
from growth.demand import wire
from growth.kube.cache.metrics import CacheMetrics
from growth.service.address import Address
from growth.service.web_server import listen, place_of
from kwok.processes import PROC

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.extender_verbs import Latency

CLIENTS: Final = 200
GOAL: Final = 5.0
"""Milliseconds for the slowest of a hundred."""
GANG_GOAL: Final = 0.2
"""Milliseconds of processor time for a call."""
NODES: Final = 100
PAUSE: Final = 0.002
"""Seconds between two calls, in which a scheduler does its own work for a pod."""
MANNERS: Final = ("kept", "new")
PATHS: Final = ("/metrics", wire.PATH)
FROM_EACH: Final = 30
"""Clients with the same address."""
LOWER: Final = 10
"""By so much the niceness of the clients is higher."""


class CrowdedExtender(NamedTuple):
    """The process that answers."""

    pid: int
    verbs: str
    others: tuple[str, str]
    """Its other ports: that of the metrics, and that of the stream."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--questions", type=int, default=1000, help="for each figure")
    parser.add_argument("--gang", type=int, default=50_000, help="calls about a waiting gang")
    parser.add_argument("--runs", type=int, default=2, help="of each kind, in turns")


def run(arguments: argparse.Namespace) -> None:
    """Measures and prints."""
    with crowded_extender() as at:
        for _ in range(arguments.runs):
            for manner in MANNERS:
                _compare(at, manner, arguments.questions)
        _ask_for_a_gang(at, arguments.gang)


def _compare(at: CrowdedExtender, manner: str, times: int) -> None:
    body = question(node_names(NODES))
    alone = latencies(at.verbs, "filter", body, times=times, pause=PAUSE)
    with _crowd(at.others, manner) as answers:
        found = latencies(at.verbs, "filter", body, times=times, pause=PAUSE)
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    print(f"filter, {CLIENTS} clients with {manner} connections, {load}:")
    print(f"  alone       {_shown(alone)}")
    print(f"  in a crowd  {_shown(found)}   goal for p99 {GOAL:.0f} ms")
    print(f"  the others got {answers[-1]} answers in the last second")
    print(f"  ratio       {found.median / alone.median:.1f} and {found.p99 / alone.p99:.1f}")


def _shown(found: Latency) -> str:
    return f"median {found.median:.2f} ms, p99 {found.p99:.2f} ms"


def _ask_for_a_gang(at: CrowdedExtender, times: int) -> None:
    body = question(node_names(NODES))
    latencies(at.verbs, "filter", body, times=times // 10)
    before, memory, began = (
        used_by(_NO_FOLDER, it=at.pid)["it"],
        _resident(at.pid),
        time.monotonic(),
    )
    latencies(at.verbs, "filter", body, times=times)
    rate = times / (time.monotonic() - began)
    spent = (used_by(_NO_FOLDER, it=at.pid)["it"] - before) / times * 1e3
    grown = _resident(at.pid) - memory
    load = f"load {os.getloadavg()[0]:.1f}"
    print(f"a waiting gang, {times} calls at {rate:.0f} a second, {load}:")
    print(
        f"  {spent:.3f} ms of processor time for each (goal {GANG_GOAL});"
        f"\n  the memory of {memory:.1f} MB has grown by {grown:.1f} MB"
    )


_NO_FOLDER: Path = PROC / "self" / "fdinfo"


def _resident(pid: int) -> float:
    lines = (PROC / str(pid) / "status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@contextlib.contextmanager
def crowded_extender() -> Iterator[CrowdedExtender]:
    """The extender's verbs and its front, as processes of their own."""
    command = [sys.executable, "-m", "benchmarks.extender_crowd", "answer"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            verbs, metrics, stream = process.stdout.readline().split()
            yield CrowdedExtender(process.pid, verbs, (metrics, stream))
        finally:
            process.kill()


@contextlib.contextmanager
def _crowd(places: tuple[str, str], manner: str) -> Iterator[list[int]]:
    """The crowd; at the end, the list has the number of answers that it got in each second."""
    command = [sys.executable, "-m", "benchmarks.extender_crowd", manner, *places]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        answers = [int(process.stdout.readline())]
        try:
            yield answers
        finally:
            process.kill()
            answers += [int(line) for line in process.stdout.read().split()]


async def _answer() -> None:
    loopback = Address("127.0.0.1", 0)
    async with verbs_of(NODES) as (service, url):
        CacheMetrics(service.registry)
        demand = DemandFeed()
        demand.complete()
        with (
            listen(loopback, setting="--metrics-address") as endpoints,
            listen(loopback, setting="--demand-address") as stream,
        ):
            front = FrontKeeper(service, demand, ports=(endpoints, stream))
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(front.keep())
                gc.freeze()
                print(
                    url.removeprefix("http://"), place_of(endpoints), place_of(stream), flush=True
                )
                await asyncio.Event().wait()


class _Client(asyncio.Protocol):
    def __init__(self, path: str, *, keeps: bool, answers: list[None]) -> None:
        self._question = f"GET {path} HTTP/1.1\r\nHost: growth\r\n\r\n".encode()
        self._keeps = keeps
        self._answers = answers
        self.gone = asyncio.Event()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._question)

    @override
    def data_received(self, data: bytes) -> None:
        # Both answers end so; that one piece does is taken for the end of the answer.
        if data.endswith((b"\n", b"}")):
            self._answers.append(None)
            if self._keeps:
                self._transport.write(self._question)
            else:
                self._transport.close()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()


async def _press(manner: str, places: list[str]) -> None:
    os.nice(LOWER)
    answers: list[None] = []
    loop = asyncio.get_running_loop()

    async def press(number: int) -> None:
        path, place = PATHS[number % 2], places[number % 2]
        host, _, port = place.rpartition(":")
        while True:
            with contextlib.suppress(OSError):
                _, client = await loop.create_connection(
                    lambda: _Client(path, keeps=manner == "kept", answers=answers),
                    host,
                    int(port),
                    local_addr=(f"127.0.1.{number // FROM_EACH}", 0),
                )
                await client.gone.wait()

    async with asyncio.TaskGroup() as tasks:
        for number in range(CLIENTS):
            tasks.create_task(press(number))
        while True:
            await asyncio.sleep(1.0)
            print(len(answers), flush=True)
            answers.clear()


if __name__ == "__main__":
    asyncio.run(_answer() if sys.argv[1] == "answer" else _press(sys.argv[1], sys.argv[2:]))
