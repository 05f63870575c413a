"""The reader of the stream against a real server that cuts, hangs, restarts and lies."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from extender.listening import Port, serve_port
from extender.streaming import ServedStreamMetrics as ServerMetrics
from extender.streaming import Streaming
from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.resource import key_of
from growth.service.address import Address
from growth.service.tls import Certificates, Files
from reconciler.seeing.demand import KnownDemand
from reconciler.seeing.demand_stream import DemandStream, FollowedStreamMetrics, StreamSource
from reconciler.seeing.moment import now
from tests.demand.build import book, marked, waiting
from tests.demand.serving import Mood, Scripted, serving
from tests.extender import test_demand as extenders
from tests.service.authority import Authority
from tests.service.build import a_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from growth.scheduling.objects import Pod

pytestmark = pytest.mark.usefixtures("nothing_blocks_the_loop")

SILENCE = 0.5
"""Much longer than the servers here are silent, unless they hang."""


class Reader:
    """A process that reads the stream, with the pods that its own cache has."""

    def __init__(self, source: StreamSource) -> None:
        self.demand = KnownDemand(now)
        self.registry = CollectorRegistry()
        self.passes = 0
        self.stream = DemandStream(
            source,
            self.demand,
            changed=self._count,
            chance=Random(1),
            metrics=FollowedStreamMetrics(self.registry),
        )

    def _count(self) -> None:
        self.passes += 1

    def cache(self, *pods: Pod) -> None:
        """Its own watch has brought these."""
        self.demand.take("pods", [Change(ChangeKind.ADDED, key_of(pod), None, pod) for pod in pods])

    @property
    def told(self) -> dict[str, str]:
        entries = self.demand.at(now()).entries
        return {uid: str(entry.reason) for uid, entry in entries.items()}

    @property
    def is_whole(self) -> bool:
        return self.registry.get_sample_value("growth_demand_stream_whole") == 1

    def lost(self, how: str) -> float | None:
        return self.registry.get_sample_value("growth_demand_stream_lost_total", {"how": how})

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110 - what others do is asked of them as it is
                await asyncio.sleep(0.01)


@asynccontextmanager
async def reading(source: StreamSource) -> AsyncIterator[Reader]:
    reader = Reader(source)
    task = asyncio.create_task(reader.stream.run())
    try:
        yield reader
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


TROUBLES = [mood for mood in Mood if mood is not Mood.FOLLOW]


def held(server: Scripted, uid: str, *, version: int = 1) -> None:
    server.book.feasible(uid, version=str(version), now=now())


async def test_what_only_the_scheduler_tells_arrives() -> None:
    async with serving() as server, reading(StreamSource(url=server.url)) as reader:
        reader.cache(marked("a"))
        server.book.put(marked("a"), now())
        held(server, "a")
        await reader.until(lambda: reader.told == {"a": "Feasible"})
        assert reader.is_whole
        assert reader.passes > 0


@pytest.mark.parametrize("mood", TROUBLES)
async def test_after_any_trouble_everything_is_told(mood: Mood) -> None:
    async with serving() as server:
        server.book = book(marked("a"), marked("b"))
        server.moods = [mood]
        async with reading(StreamSource(url=server.url, silence=SILENCE)) as reader:
            reader.cache(marked("a"), marked("b"))
            await reader.until(lambda: not server.moods)
            held(server, "a")
            await reader.until(lambda: reader.told == {"a": "Feasible", "b": "Unschedulable"})


@pytest.mark.parametrize(
    ("mood", "how"),
    [
        (Mood.END, "ended"),
        (Mood.CUT_IN_A_LINE, "unreachable"),
        (Mood.HANG_BEFORE_ITS_ANSWER, "silent"),
        (Mood.HANG, "silent"),
        (Mood.DRIP, "silent"),
        (Mood.RUBBISH, "unreadable"),
        (Mood.RUBBISH_LATER, "unreadable"),
        (Mood.FAIL, "unreadable"),
        (Mood.REFUSE, "refused"),
        (Mood.REDIRECT, "refused"),
    ],
)
async def test_each_loss_is_counted_by_how_it_was_lost(mood: Mood, how: str) -> None:
    async with serving() as server:
        server.moods = [mood]
        async with reading(StreamSource(url=server.url, silence=SILENCE)) as reader:
            await reader.until(lambda: reader.lost(how) == 1)
            await reader.until(lambda: reader.is_whole)


async def test_a_server_that_is_not_there_is_waited_for_while_our_own_book_goes_on() -> None:
    async with serving() as server:
        url = server.url
    async with reading(StreamSource(url=url)) as reader:
        reader.cache(marked("a"))
        await reader.until(lambda: (reader.lost("unreachable") or 0) >= 2)
        assert reader.told == {"a": "Unschedulable"}
        assert not reader.is_whole


async def test_bookmarks_are_a_sign_of_life() -> None:
    """The one test that waits for real: nothing changes for longer than silence may last."""
    async with serving() as server, reading(StreamSource(url=server.url, silence=2.0)) as reader:
        await reader.until(lambda: reader.is_whole)
        await asyncio.sleep(2.5)
        assert (reader.is_whole, len(server.asked)) == (True, 1)


async def test_a_cut_is_mended_from_where_it_was() -> None:
    async with serving() as server, reading(StreamSource(url=server.url)) as reader:
        reader.cache(marked("a"))
        server.book.put(marked("a"), now())
        await reader.until(lambda: reader.is_whole)
        server.cut_all()
        held(server, "a")
        await reader.until(lambda: reader.told == {"a": "Feasible"})
        assert server.asked[0] is None
        assert (server.asked[1] or "").startswith("one.")


async def test_a_server_that_was_started_anew_is_read_from_its_beginning() -> None:
    async with serving() as server, reading(StreamSource(url=server.url)) as reader:
        reader.cache(marked("a"), marked("b"))
        for uid in "ab":
            server.book.put(marked(uid), now())
        held(server, "a")
        await reader.until(lambda: reader.told == {"a": "Feasible", "b": "Unschedulable"})

        server.book = book(marked("a"), marked("b"), instance="two")
        held(server, "b")
        server.cut_all()
        await reader.until(lambda: reader.told == {"a": "Unschedulable", "b": "Feasible"})
        assert server.asked[-1] is None


async def test_who_is_told_to_begin_anew_does_so_soon_however_long_the_server_was_away() -> None:
    async with serving() as server, reading(StreamSource(url=server.url)) as reader:
        reader.cache(marked("a"))
        await reader.until(lambda: reader.is_whole)
        with capture_logs() as said:
            server.moods = [Mood.REFUSE] * 2
            server.book = book(marked("a"), instance="two")
            server.cut_all()
            await reader.until(lambda: len(server.asked) == 5 and reader.is_whole)
    assert [position is None for position in server.asked] == [True, False, False, False, True]
    *_, refused, begun_anew = [each["again_in"] for each in said if "again_in" in each]
    assert begun_anew < refused


async def test_what_cannot_be_read_is_not_gone_on_from() -> None:
    async with serving() as server:
        server.moods = [Mood.RUBBISH_LATER, Mood.FOLLOW]
        async with reading(StreamSource(url=server.url)) as reader:
            await reader.until(lambda: len(server.asked) > 1 and reader.is_whole)
            assert server.asked[:2] == [None, None]


async def test_half_a_beginning_is_not_mixed_with_the_next_one() -> None:
    async with serving() as server:
        server.book = book(marked("a"), marked("b"))
        held(server, "a")
        server.moods = [Mood.CUT_IN_THE_BEGINNING, Mood.REFUSE, Mood.REFUSE]
        async with reading(StreamSource(url=server.url)) as reader:
            reader.cache(marked("a"), marked("b"))
            await reader.until(lambda: len(server.asked) == 2)
            server.book = book(marked("b"))
            await reader.until(lambda: reader.is_whole)
            assert reader.told == {"a": "Unschedulable", "b": "Unschedulable"}


async def test_through_a_life_of_troubles_nothing_is_lost_or_doubled() -> None:
    chance = Random(7)
    latest: dict[str, Any] = {}
    async with (
        serving() as server,
        reading(StreamSource(url=server.url, silence=SILENCE)) as reader,
    ):
        for version in range(1, 300):
            uid = f"pod-{chance.randrange(30)}"
            made = chance.choice([waiting, marked, marked])
            on = "node-1" if chance.random() < 0.3 else ""
            latest[uid] = made(uid, version=version, owner=f"set-{version % 3}", on=on)
            server.book.put(latest[uid], now())
            reader.cache(latest[uid])
            if version % 60 == 0:
                server.moods = [chance.choice(TROUBLES)]
                server.cut_all()
            if version % 130 == 0:
                server.book = book(*latest.values(), instance=f"book {version}")
                server.cut_all()
            await asyncio.sleep(0.002)
        alone = {uid: str(entry.reason) for uid, entry in server.book.entries.items()}
        await reader.until(lambda: reader.is_whole and not server.moods)
        await reader.until(lambda: reader.told == alone)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Certificates of both sides, signed by one authority."""
    authority = Authority()
    authority.leaf().write_to(tmp_path / "server", authorities=authority.certificate)
    authority.client().write_to(tmp_path / "client", authorities=authority.certificate)
    return tmp_path


async def test_the_real_server_is_read_with_a_certificate_of_ours(folders: Path) -> None:
    demand = extenders.a_complete_one(extenders.waiting("web"))
    service = a_service()
    certificates = Certificates(service)
    port = Port(
        name="demand",
        address=Address(host="127.0.0.1", port=0),
        files=Files.mutual(folders / "server"),
    )
    application = Streaming(demand, ServerMetrics(service.registry)).application()
    async with (
        serve_port(port, application, certificates) as url,
        certificates.calling("demand stream", Files.mutual(folders / "client")) as newest,
        reading(StreamSource(url=url, certificates=newest)) as reader,
    ):
        reader.cache(extenders.waiting("web"))
        demand.feasible(extenders.head(extenders.waiting("web")))
        await reader.until(lambda: reader.told == {"uid-web": "Feasible"})


async def test_without_a_certificate_to_show_it_is_tried_again(tmp_path: Path) -> None:
    certificates = Certificates(a_service())
    async with (
        certificates.calling("demand stream", Files.mutual(tmp_path / "empty")) as newest,
        serving() as server,
        reading(StreamSource(url=server.url, certificates=newest)) as reader,
    ):
        await reader.until(lambda: (reader.lost("refused") or 0) >= 2)
