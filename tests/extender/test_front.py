"""The front process: what it shows, and that nothing that happens to it reaches the scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Counter, generate_latest

from extender.front.keeping import FrontKeeper
from extender.front.messages import (
    Afresh,
    Changes,
    Complete,
    FrontMessage,
    ToldCondition,
    ToldFigures,
)
from extender.front.mirror import MirroredDemand
from extender.front.telling import Telling
from extender.front.view import FrontHealth, ToldMetrics
from extender.settings import ExtenderSettings
from growth.demand import wire
from growth.service.address import Address
from growth.service.context import Service
from growth.service.health import HealthVerdict, ProcessHealth
from growth.service.web_server import listen, place_of
from kwok.processes import PROC
from tests.extender.build import added, changed, question
from tests.extender.test_demand import a_complete_one, waiting
from tests.extender.test_serving import kubeconfig
from tests.service.build import a_service
from tests.service.test_processes import PATIENCE, Running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from extender.demand import DemandFeed

LOOPBACK = Address(host="127.0.0.1", port=0)
LIMIT = 180
"""Seconds for what takes one, on a machine that does much else."""


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_there(pid: int) -> bool:
    with contextlib.suppress(OSError):
        state = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX"
    return False


# What the front knows.


class Pipe:
    """A front that takes a message only when it is told to."""

    def __init__(self) -> None:
        self.demand = MirroredDemand()
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.taken: list[FrontMessage] = []
        self.waiting = 0

    async def write(self, message: FrontMessage) -> None:
        self.waiting += 1
        await self.is_open.wait()
        self.waiting -= 1
        self.taken.append(message)
        match message:
            case Changes(changes=changes):
                self.demand.follow(changes)
            case Complete():
                self.demand.complete()
            case Afresh():
                self.demand.begin_afresh()
            case _:
                pass


@contextlib.asynccontextmanager
async def told(demand: DemandFeed) -> AsyncIterator[Pipe]:
    pipe = Pipe()
    telling = asyncio.create_task(Telling(a_service(), demand, write=pipe.write).tell())
    yield pipe
    telling.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await telling


@pytest.mark.looptime
async def test_the_front_knows_the_whole_book_and_every_change() -> None:
    demand = a_complete_one(waiting("web"), waiting("db"))
    async with told(demand) as pipe:
        await asyncio.sleep(1)
        assert pipe.demand.book.entries == demand.book.entries

        demand.follow_pods(
            [added(waiting("new")), changed(waiting("web"), waiting("web", node="a"))]
        )
        await asyncio.sleep(1)
        assert pipe.demand.book.entries == demand.book.entries
        assert {each.name for each in pipe.demand.book.entries.values()} == {"db", "new"}


@pytest.mark.looptime
async def test_a_front_that_reads_nothing_costs_one_message_and_catches_up_later() -> None:
    demand = a_complete_one(waiting("web"))
    async with told(demand) as pipe:
        await asyncio.sleep(1)
        pipe.is_open.clear()
        for number in range(25_000):
            demand.follow_pods([added(waiting(f"pod-{number % 100}", version=number + 2))])
            if number % 1000 == 0:
                await asyncio.sleep(1)
        assert pipe.waiting == 1

        pipe.is_open.set()
        await asyncio.sleep(1)
        assert pipe.demand.book.entries == demand.book.entries


@pytest.mark.looptime
async def test_readers_of_a_book_told_afresh_get_only_the_differences() -> None:
    first, second = a_complete_one(waiting("web"), waiting("db")), a_complete_one(waiting("db"))
    async with told(first) as pipe:
        await asyncio.sleep(1)
        mirror = pipe.demand
    position = mirror.book.position
    mirror.begin_afresh()
    mirror.follow(wire_changes(second))
    assert mirror.book.position == position, "a half-told book isn't shown"
    mirror.complete()

    assert {each.name for each in mirror.book.entries.values()} == {"db"}
    changes = mirror.book.after(position)
    assert changes is not None
    assert ("DELETED", "web") in [(each.kind.value, each.entry.name) for each in changes]


def wire_changes(demand: DemandFeed) -> tuple[Any, ...]:
    lines = wire.opening(demand.book)
    return tuple(wire.read_lines(lines))[:-1]


def test_a_bad_verdict_of_either_process_counts() -> None:
    now = [0.0]
    own, inner = ProcessHealth(clock=lambda: now[0]), ProcessHealth(clock=lambda: now[0])
    health, problems = FrontHealth(own), ["no caches"]
    own.require("certificate", lambda: "none yet")
    inner.require("caches", lambda: next(iter(problems), None))
    health.hear(ToldCondition(liveness=inner.liveness(), readiness=inner.readiness()))

    assert {each.name: each.missing for each in health.readiness()} == {
        "process": None,
        "caches": "no caches",
        "certificate": "none yet",
    }


def test_a_process_that_says_nothing_any_more_is_not_alive() -> None:
    now = [0.0]
    health = FrontHealth(ProcessHealth(clock=lambda: now[0]))
    # The last that it said of itself was good.
    last = (HealthVerdict("event loop", None),)
    health.hear(ToldCondition(liveness=last, readiness=()))
    assert [each.good for each in health.liveness()] == [True]

    now[0] = 60.0
    assert [each.good for each in health.liveness()] == [False]
    health.beat()
    assert [each.good for each in health.liveness()] == [True]


@pytest.mark.looptime
async def test_metrics_of_both_processes_with_one_name_stand_together() -> None:
    service, own = a_service(), CollectorRegistry()
    for registry, label in ((service.registry, "verbs"), (own, "demand")):
        Counter("growth_swaps", "Swaps", ["certificate"], registry=registry).labels(label).inc()
    shown, pipe = ToldMetrics(own), Pipe()
    telling = asyncio.create_task(Telling(service, a_complete_one(), write=pipe.write).tell())
    await asyncio.sleep(1)
    telling.cancel()
    for message in pipe.taken:
        if isinstance(message, ToldFigures):
            shown.hear(message.families)

    page = generate_latest(shown).decode()
    assert page.count("# TYPE growth_swaps_total counter") == 1
    assert 'growth_swaps_total{certificate="verbs"} 1.0' in page
    assert 'growth_swaps_total{certificate="demand"} 1.0' in page
    assert "process_resident_memory_bytes" in page


# The two processes.


class Extender:
    """The process, and its front."""

    def __init__(self, running: Running) -> None:
        self.running = running
        told = [*running.lines, running.wait_for("listening")]
        [self.places] = [line for line in told if line["message"] == "listening"]

    @property
    def pid(self) -> int:
        return self.running.popen.pid

    @property
    def front(self) -> int:
        """The process ID of the front; 0 if there is none."""
        children = (PROC / str(self.pid) / "task" / str(self.pid) / "children").read_text()
        return next(map(int, children.split()), 0)

    def replace(self, number: signal.Signals) -> None:
        """Harm the front, and call as the scheduler does until there is another one."""
        harmed = self.front
        os.kill(harmed, number)
        until(lambda: self.answers_the_scheduler() and self.front not in {0, harmed})

    def answers_the_scheduler(self) -> bool:
        call = urllib.request.Request(f"{self.places['verbs']}/filter", question(["a"]))
        with urllib.request.urlopen(call, timeout=PATIENCE) as answer:
            return bool(answer.read() == b'{"NodeNames":["a"]}')

    def demand_status(self) -> int:
        url = f"{self.places['demand']}{wire.PATH}"
        try:
            with urllib.request.urlopen(url, timeout=LIMIT) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code


@pytest.fixture
def extender(tmp_path: Path) -> Iterator[Extender]:
    running = Running("extender", "--kubeconfig", str(kubeconfig(tmp_path)))
    try:
        extender = Extender(running.start())
        until(lambda: bool(extender.front))
        first = os.pidfd_open(extender.front)
        yield extender
        # One that outlives its parent would keep the log open, and `close` waiting.
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(first, signal.SIGKILL)
        os.close(first)
    finally:
        running.close()


def test_a_front_that_is_killed_is_replaced_and_the_scheduler_does_not_notice(
    extender: Extender,
) -> None:
    assert extender.running.ask("/healthz")[0] == 200
    for _ in range(2):
        extender.replace(signal.SIGKILL)

        assert extender.running.ask("/healthz") == (200, "ok event loop\n")
        assert extender.demand_status() == 503
    status, page = extender.running.ask("/metrics")
    assert status == 200
    assert "growth_extender_front_replaced_total 2.0" in page


def test_a_front_that_is_stopped_keeps_no_call_of_the_scheduler_waiting(
    extender: Extender,
) -> None:
    assert extender.running.ask("/healthz")[0] == 200

    # It is replaced when it has taken nothing for a while; until then the pipe fills up.
    extender.replace(signal.SIGSTOP)

    assert extender.running.ask("/healthz")[0] == 200


@pytest.mark.parametrize("is_stopped", [False, True], ids=["running", "stopped"])
def test_the_front_ends_with_its_parent(extender: Extender, is_stopped: bool) -> None:  # noqa: FBT001
    assert extender.running.ask("/healthz")[0] == 200
    front = extender.front
    if is_stopped:
        os.kill(front, signal.SIGSTOP)

    extender.running.popen.kill()

    until(lambda: not is_there(front))


def test_a_front_that_has_just_been_started_ends_with_its_parent(tmp_path: Path) -> None:
    running = Running("extender", "--kubeconfig", str(kubeconfig(tmp_path)))
    try:
        children = PROC / str(running.popen.pid) / "task" / str(running.popen.pid) / "children"
        until(lambda: bool(children.read_text().split()))
        front = int(children.read_text().split()[0])
        running.popen.kill()

        until(lambda: not is_there(front))
    finally:
        running.close()


def test_an_extender_that_is_asked_to_end_leaves_no_front(extender: Extender) -> None:
    assert extender.running.ask("/healthz")[0] == 200
    front = extender.front

    assert extender.running.end(signal.SIGTERM)[0] == 0

    assert not is_there(front)


async def test_a_front_with_a_full_pipe_is_replaced_and_the_next_one_knows_everything() -> None:
    demand = a_complete_one()
    with (
        listen(LOOPBACK, setting="--metrics-address") as endpoints,
        listen(LOOPBACK, setting="--demand-address") as stream,
    ):
        keeper = FrontKeeper(a_front_s_service(), demand, ports=(endpoints, stream), patience=1.0)
        keeping = asyncio.create_task(keeper.keep())
        try:
            async with asyncio.timeout(LIMIT), aiohttp.ClientSession() as session:
                url = f"http://{place_of(stream)}{wire.PATH}"
                await names_in(session, url)
                stopped = keeper.pid
                os.kill(stopped, signal.SIGSTOP)
                demand.follow_pods([added(waiting(f"pod-{number}")) for number in range(5000)])
                while keeper.pid == stopped:  # noqa: ASYNC110 - processes tell nobody
                    await asyncio.sleep(0.05)

                assert await names_in(session, url) == {
                    each.name for each in demand.book.entries.values()
                }
        finally:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping
    assert not is_there(keeper.pid)


def a_front_s_service() -> Service[ExtenderSettings]:
    service = a_service()
    return Service(
        name=service.name,
        settings=ExtenderSettings(),
        logger=service.logger,
        registry=service.registry,
        health=service.health,
    )


async def names_in(session: aiohttp.ClientSession, url: str) -> set[str]:
    """The pods in the stream's document, once it is complete."""
    while True:
        async with session.get(url) as answer:
            if answer.status == 200:
                return {item["name"] for item in json.loads(await answer.read())["items"]}
        await asyncio.sleep(0.05)
