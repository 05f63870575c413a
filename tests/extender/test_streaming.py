"""The stream over a real port: all of it in order, nothing twice, and no queue for slow readers."""

from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from extender import streaming
from extender.listening import Port, serve_port
from extender.streaming import ServedStreamMetrics, Streaming
from growth.demand import wire
from growth.service.address import Address
from growth.service.tls import Certificates, Files
from tests.extender.build import added, changed
from tests.extender.test_demand import a_complete_one, waiting
from tests.service.authority import Authority
from tests.service.build import a_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from extender.demand import DemandFeed
    from growth.scheduling.objects import Pod

pytestmark = pytest.mark.usefixtures("nothing_blocks_the_loop")

LOOPBACK = Address(host="127.0.0.1", port=0)
PLAIN = Port(name="demand", address=LOOPBACK, files=None)


class Reader:
    """One connection to the stream."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.answer = answer
        self.position = ""

    async def line(self) -> tuple[str, Any]:
        async with asyncio.timeout(10):
            line = json.loads(await self.answer.content.readline())
        if line["type"] == "BOOKMARK":
            self.position = line["object"]["resourceVersion"]
        return line["type"], line["object"]

    async def until_bookmark(self) -> list[tuple[str, str]]:
        """What is told up to the next bookmark: kind and name."""
        told: list[tuple[str, str]] = []
        while (line := await self.line())[0] != "BOOKMARK":
            told.append((line[0], line[1].get("name", "")))
        return told

    async def news(self) -> list[tuple[str, str]]:
        """The next that is told, past the bookmarks of a server that has nothing to tell."""
        while not (told := await self.until_bookmark()):
            pass
        return told


class Server:
    """The stream as those see it who read it."""

    def __init__(
        self, url: str, session: aiohttp.ClientSession, registry: CollectorRegistry
    ) -> None:
        self.url = f"{url}{wire.PATH}"
        self.session = session
        self.registry = registry

    @property
    def readers(self) -> float | None:
        return self.registry.get_sample_value("growth_demand_stream_readers")

    @property
    def cut_off(self) -> float | None:
        return self.registry.get_sample_value("growth_demand_stream_cut_off_total")

    @asynccontextmanager
    async def reader(self, **query: str) -> AsyncIterator[Reader]:
        async with self.session.get(self.url, params={"watch": "true", **query}) as answer:
            assert answer.status == 200
            yield Reader(answer)


@asynccontextmanager
async def streamed(
    demand: DemandFeed, *, patience: float = streaming.PATIENCE, port: Port = PLAIN
) -> AsyncIterator[Server]:
    registry = CollectorRegistry()
    service = Streaming(demand, ServedStreamMetrics(registry), patience=patience)
    async with (
        serve_port(port, service.application(), Certificates(a_service())) as url,
        aiohttp.ClientSession() as session,
    ):
        yield Server(url, session, registry)


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not done():  # noqa: ASYNC110 - the server is asked as its metrics are
            await asyncio.sleep(0.02)


@pytest.fixture(autouse=True)
def bookmarks_come_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "BOOKMARK_SECONDS", 0.05)


async def test_the_whole_book_is_one_document() -> None:
    demand = a_complete_one(waiting("web"), waiting("db"))
    async with streamed(demand) as server, server.session.get(server.url) as answer:
        document = await answer.json()

    assert [item["name"] for item in document["items"]] == ["web", "db"]
    assert document["metadata"]["resourceVersion"] == demand.book.position
    assert document["items"][0] == {
        "uid": "uid-web",
        "namespace": "shop",
        "name": "web",
        "resourceVersion": "1",
        "state": "demand",
        "reason": "Unschedulable",
        "since": document["items"][0]["since"],
        "inferred": False,
    }


async def test_a_reader_gets_everything_first_and_then_what_changes() -> None:
    demand = a_complete_one(waiting("web"))
    async with streamed(demand) as server, server.reader() as reader:
        assert await reader.until_bookmark() == [("ADDED", "web")]
        assert reader.position == demand.book.position

        demand.follow_pods(
            [added(waiting("db")), changed(waiting("web"), waiting("web", node="a"))]
        )
        assert await reader.news() == [("ADDED", "db"), ("DELETED", "web")]
        assert reader.position == demand.book.position


async def test_a_silent_book_says_where_it_is_now_and_then() -> None:
    async with streamed(a_complete_one()) as server, server.reader() as reader:
        assert [await reader.until_bookmark() for _ in range(3)] == [[], [], []]


async def test_a_reader_that_was_cut_off_goes_on_where_it_was() -> None:
    demand = a_complete_one(waiting("web"))
    async with streamed(demand) as server:
        async with server.reader() as reader:
            await reader.until_bookmark()
        demand.follow_pods([added(waiting("db"))])

        async with server.reader(resourceVersion=reader.position) as again:
            assert await again.until_bookmark() == [("ADDED", "db")]


@pytest.mark.parametrize("position", ["0", "another.1", "x", "-1", "9" * 5000])
async def test_a_position_that_is_not_of_this_book_is_answered_with_begin_anew(
    position: str,
) -> None:
    demand = a_complete_one(waiting("web"))
    async with streamed(demand) as server, server.reader(resourceVersion=position) as reader:
        kind, status = await reader.line()
        assert (kind, status["code"]) == ("ERROR", 410)
        # The connection ends with it.
        assert await reader.answer.content.read() == b""


async def test_before_everything_was_seen_nothing_is_told() -> None:
    demand = a_complete_one(waiting("web"))
    demand.is_complete = False
    async with streamed(demand) as server:
        for query in ({}, {"watch": "true"}):
            async with server.session.get(server.url, params=query) as answer:
                assert (answer.status, answer.headers["Retry-After"]) == (503, "1")


@asynccontextmanager
async def who_takes_nothing(server: Server) -> AsyncIterator[None]:
    port = int(server.url.split(":")[2].partition("/")[0])
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    writer.write(b"GET /v1/demand?watch=true HTTP/1.1\r\nHost: growth\r\n\r\n")
    try:
        yield
    finally:
        writer.transport.abort()


@pytest.fixture(scope="module")
def a_large_book() -> tuple[Pod, ...]:
    """More of it than a connection holds back."""
    return tuple(waiting(f"pod-{number:05d}-{'x' * 200}") for number in range(20_000))


async def test_a_reader_that_takes_nothing_holds_up_no_other(a_large_book: tuple[Pod, ...]) -> None:
    async with (
        streamed(a_complete_one(*a_large_book), patience=3600) as server,
        who_takes_nothing(server),
        server.reader() as quick,
    ):
        assert len(await quick.until_bookmark()) == len(a_large_book)
        await until(lambda: server.readers == 2)


async def test_a_reader_that_takes_nothing_is_cut_off_and_misses_nothing_by_it(
    a_large_book: tuple[Pod, ...],
) -> None:
    demand = a_complete_one(*a_large_book)
    async with streamed(demand, patience=0.1) as server, who_takes_nothing(server):
        await until(lambda: server.cut_off == 1)
        await until(lambda: server.readers == 0)

    async with streamed(demand) as server, server.reader() as again:
        assert len(await again.until_bookmark()) == len(a_large_book)


async def test_more_readers_than_can_be_are_asked_to_come_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "MOST_READERS", 1)
    async with streamed(a_complete_one()) as server:
        async with server.reader() as reader:
            await reader.until_bookmark()
            async with server.session.get(server.url, params={"watch": "1"}) as answer:
                assert answer.status == 429
            async with server.session.get(server.url) as answer:
                assert answer.status == 200

        await until(lambda: server.readers == 0)
        async with server.reader() as reader:
            assert await reader.until_bookmark() == []


async def test_a_reader_does_not_hold_up_the_end_of_the_process() -> None:
    async with aiohttp.ClientSession() as session:
        async with asyncio.timeout(10), streamed(a_complete_one()) as server:
            answer = await session.get(server.url, params={"watch": "true"})
            await Reader(answer).until_bookmark()
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.content.read()
        answer.close()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """Who has signed both certificates of the stream."""
    authority = Authority()
    authority.leaf().write_to(tmp_path / "server", authorities=authority.certificate)
    authority.client().write_to(tmp_path / "client")
    Authority("a stranger").client().write_to(tmp_path / "stranger")
    return authority


async def test_only_who_shows_a_certificate_of_ours_may_read(
    authority: Authority, tmp_path: Path
) -> None:
    def showing(folder: str = "") -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=authority.certificate.decode())
        if folder:
            context.load_cert_chain(tmp_path / folder / "tls.crt", tmp_path / folder / "tls.key")
        return context

    ours, nobody, strange = (showing(folder) for folder in ("client", "", "stranger"))
    port = Port(name="demand", address=LOOPBACK, files=Files.mutual(tmp_path / "server"))
    async with streamed(a_complete_one(waiting("web")), port=port) as server:
        async with server.session.get(server.url, ssl=ours) as answer:
            assert len((await answer.json())["items"]) == 1
        for context in (nobody, strange):
            with pytest.raises((aiohttp.ClientError, OSError)):
                await server.session.get(server.url, ssl=context)
