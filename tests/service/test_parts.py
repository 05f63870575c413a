"""Parts side by side: how they start, how they end, and what happens when one of them fails."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn

import aiohttp
import pytest
from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

import growth
from growth.errors import Misconfigured
from growth.service.address import Address
from growth.service.event_loop import SILENCE
from growth.service.health import all_good
from growth.service.parts import CRASHED, MISCONFIGURED, Running
from growth.service.web_server import listen, place_of
from tests.service.build import BakerySettings, a_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from io import StringIO

    from prometheus_client import Metric

    from growth.service.context import Part, Parts, Service

LOOPBACK = Address(host="127.0.0.1", port=0)


class Bakery:
    """A process without the process: its parts, and what it would have exited with."""

    def __init__(self, service: Service[BakerySettings], parts: Parts[BakerySettings]) -> None:
        self.service = service
        self.parts = parts
        self.stop = asyncio.Event()
        self.failures: list[int] = []
        self.running = Running(stop=self.stop, on_failure=self.failures.append)
        self.listening = listen(LOOPBACK, setting="--metrics-address")
        self.url = f"http://{place_of(self.listening)}"

    async def run(self) -> None:
        with self.listening:
            await self.running.run(self.service, self.parts, self.listening)

    async def ask(self, path: str) -> tuple[int, str]:
        async with aiohttp.ClientSession() as client, client.get(self.url + path) as answer:
            return answer.status, await answer.text()


@contextlib.asynccontextmanager
async def opened(
    parts: Parts[BakerySettings], *, name: str = "bakery", stream: StringIO | None = None
) -> AsyncIterator[Bakery]:
    """A bakery that runs while the context lasts, and has to end when asked to then."""
    bakery = Bakery(a_service(name=name, stream=stream), parts)
    task = asyncio.create_task(bakery.run())
    try:
        yield bakery
    finally:
        bakery.stop.set()
        await asyncio.wait_for(task, 10)


async def bake(_service: Service[BakerySettings]) -> None:
    await asyncio.Event().wait()


async def burn(_service: Service[BakerySettings]) -> NoReturn:
    raise OSError("the oven is on fire")


async def go_home(_service: Service[BakerySettings]) -> None:
    return


async def cancel_itself(_service: Service[BakerySettings]) -> NoReturn:
    raise asyncio.CancelledError


async def miss_the_flour(_service: Service[BakerySettings]) -> NoReturn:
    raise Misconfigured("--flour: this has no default")


async def miss_much(_service: Service[BakerySettings]) -> NoReturn:
    raise ExceptionGroup("stock", [Misconfigured("--flour: none"), Misconfigured("--salt: none")])


async def miss_and_burn(_service: Service[BakerySettings]) -> NoReturn:
    raise ExceptionGroup("stock", [Misconfigured("--flour: none"), OSError("fire")])


def lines(stream: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


async def test_parts_run_until_they_are_asked_to_end(stream: StringIO) -> None:
    async with opened({"oven": bake, "shop": bake}, stream=stream) as bakery:
        status, _ = await bakery.ask("/readyz")
        assert bakery.running.names == ["oven", "shop"]

    assert status == 200
    assert bakery.running.names == []
    assert bakery.failures == []
    assert [line["message"] for line in lines(stream)] == ["started", "ending"]


async def test_the_log_says_which_port_was_found(stream: StringIO) -> None:
    async with opened({}, stream=stream) as bakery:
        await bakery.ask("/healthz")

    assert lines(stream)[0]["metrics_address"] == bakery.url.removeprefix("http://")


@pytest.mark.parametrize(
    ("part", "exit_code", "message"),
    [
        (burn, CRASHED, "part crashed"),
        (go_home, CRASHED, "part crashed"),
        (cancel_itself, CRASHED, "part crashed"),
        (miss_the_flour, MISCONFIGURED, "misconfigured"),
        (miss_and_burn, CRASHED, "part crashed"),
    ],
)
async def test_a_part_that_fails_ends_the_others_and_is_named(
    stream: StringIO, part: Part[BakerySettings], exit_code: int, message: str
) -> None:
    bakery = Bakery(a_service(stream=stream), {"oven": bake, "baker": part})

    await asyncio.wait_for(bakery.run(), 10)

    assert bakery.failures == [exit_code]
    (told,) = [line for line in lines(stream) if line["level"] == "error"]
    assert (told["message"], told["part"]) == (message, "baker")
    # A person's mistake has no stack trace; ours has one.
    assert ("exception" in told) is (exit_code == CRASHED)


async def test_each_thing_that_a_person_has_to_mend_is_a_line(stream: StringIO) -> None:
    bakery = Bakery(a_service(stream=stream), {"baker": miss_much})

    await asyncio.wait_for(bakery.run(), 10)

    assert bakery.failures == [MISCONFIGURED]
    reasons = [line["reason"] for line in lines(stream) if line["level"] == "error"]
    assert reasons == ["--flour: none", "--salt: none"]


async def test_a_part_that_tidies_up_has_the_time_to() -> None:
    tidied = []

    async def bake_and_tidy(service: Service[BakerySettings]) -> None:
        try:
            await bake(service)
        finally:
            await asyncio.sleep(0.01)
            tidied.append("oven")

    async with opened({"oven": bake_and_tidy}) as bakery:
        await bakery.ask("/healthz")

    assert tidied == ["oven"]
    assert bakery.failures == []


async def test_a_part_that_fails_while_it_ends_is_a_crash() -> None:
    async def bake_and_burn(service: Service[BakerySettings]) -> None:
        try:
            await bake(service)
        finally:
            await burn(service)

    async with opened({"oven": bake_and_burn}) as bakery:
        await bakery.ask("/healthz")

    assert bakery.failures == [CRASHED]


async def test_nobody_is_told_ready_before_each_part_had_its_say() -> None:
    flour: list[str] = []

    async def need_flour(service: Service[BakerySettings]) -> None:
        service.health.require("flour", lambda: None if flour else "no sack")
        await bake(service)

    async with opened({"oven": bake, "baker": need_flour}) as bakery:
        assert await bakery.ask("/readyz") == (503, "no flour: no sack\n")
        assert await bakery.ask("/readyz?verbose") == (503, "ok process\nno flour: no sack\n")
        flour.append("sack")
        assert await bakery.ask("/readyz") == (200, "ok process\nok flour\n")


async def test_while_the_parts_end_the_process_is_alive_and_not_ready() -> None:
    may_end = asyncio.Event()

    async def take_time(service: Service[BakerySettings]) -> None:
        try:
            await bake(service)
        finally:
            await may_end.wait()

    async with opened({"oven": take_time}) as bakery:
        await bakery.ask("/readyz")
        bakery.service.health.end()
        bakery.stop.set()

        assert await bakery.ask("/readyz") == (503, "no process: it is shutting down\n")
        assert await bakery.ask("/healthz") == (200, "ok event loop\n")
        assert bakery.running.names == ["oven"]
        may_end.set()


@pytest.mark.looptime
async def test_the_event_loop_is_watched_until_the_last_part_has_ended() -> None:
    async def take_time(service: Service[BakerySettings]) -> None:
        try:
            await bake(service)
        finally:
            await asyncio.sleep(SILENCE * 4)

    service = a_service(clock=asyncio.get_running_loop().time)
    bakery = Bakery(service, {"oven": take_time})
    bakery.stop.set()
    running = asyncio.create_task(bakery.run())

    await asyncio.sleep(SILENCE * 3)

    assert all_good(service.health.liveness())
    await running


async def test_a_pulse_that_stopped_is_told() -> None:
    async def stall(service: Service[BakerySettings]) -> None:
        service.health.pulse("dough", limit=-1)
        await bake(service)

    async with opened({"baker": stall}) as bakery:
        status, text = await bakery.ask("/healthz")

    assert status == 503
    assert text == "no dough: no heartbeat for 0.0 s\n"


async def test_metrics_tell_what_runs_here_and_since_when() -> None:
    async with opened({}) as bakery:
        status, text = await bakery.ask("/metrics")

    assert status == 200
    assert f'version="{growth.__version__}"' in text
    for name in (
        "growth_build_info",
        "process_start_time_seconds",
        "growth_event_loop_lag_seconds_bucket",
    ):
        assert f"\n{name}" in text


async def test_two_processes_in_one_interpreter_count_apart() -> None:
    async def sell(service: Service[BakerySettings]) -> None:
        sold = Counter("loaves_sold", "Loaves that were sold", registry=service.registry)
        sold.inc(len(service.name))
        await bake(service)

    async with (
        opened({"shop": sell}, name="rye") as rye,
        opened({"shop": sell}, name="wheat") as wheat,
    ):
        _, of_rye = await rye.ask("/metrics")
        _, of_wheat = await wheat.ask("/metrics")

    assert "loaves_sold_total 3.0" in of_rye
    assert "loaves_sold_total 5.0" in of_wheat
    assert 'process="rye"' in of_rye
    assert 'process="rye"' not in of_wheat


class Slow(Collector):
    """Metrics that are there only when somebody else has done something meanwhile."""

    def __init__(self) -> None:
        self.asked, self.done = threading.Event(), threading.Event()
        self.deadline = time.monotonic() + 100

    def describe(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("met", "Whether it was done in time")

    @override
    def collect(self) -> Iterator[Metric]:
        self.asked.set()
        # Not a wait: that would be a blocking call, which fails the test.
        while not self.done.is_set() and time.monotonic() < self.deadline:
            pass
        yield GaugeMetricFamily("met", "Whether it was done in time", value=self.done.is_set())


async def test_whatever_a_page_takes_no_part_waits_for_it() -> None:
    async with opened({}) as bakery:
        slow = Slow()
        bakery.service.registry.register(slow)
        asking = asyncio.create_task(bakery.ask("/metrics"))
        while not slow.asked.is_set():  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(0)
        slow.done.set()

        assert "met 1.0" in (await asking)[1]


async def test_a_path_that_nobody_serves_is_not_found() -> None:
    async with opened({}) as bakery:
        assert (await bakery.ask("/"))[0] == 404


@pytest.mark.parametrize("host", ["", "127.0.0.1", "localhost"])
def test_a_taken_port_is_told_in_one_line_that_says_how_to_mend_it(host: str) -> None:
    with listen(Address(host=host, port=0), setting="--metrics-address") as first:
        taken = Address(host=host, port=first.getsockname()[1])

        with pytest.raises(Misconfigured) as caught:
            listen(taken, setting="--metrics-address")

    assert str(caught.value) == (
        f"--metrics-address: cannot listen on {taken}: address already in use; "
        "choose another one, or :0"
    )


def test_without_a_host_one_port_serves_both_families() -> None:
    with listen(Address(host="", port=0), setting="--metrics-address") as listening:
        port = listening.getsockname()[1]

        for host in ("127.0.0.1", "::1") if socket.has_dualstack_ipv6() else ("127.0.0.1",):
            socket.create_connection((host, port), timeout=5).close()
