"""The verbs over a real port: whatever comes, no node is rejected and nothing is our failure."""

from __future__ import annotations

import asyncio
import io
import json
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs
from typing_extensions import override

from extender import verbs
from extender.door import LARGEST_BODY, REST
from extender.listening import Port, serve_port
from extender.opening import Opening
from extender.verbs import VerbMetrics, Verbs
from growth.errors import Misconfigured
from growth.service.address import Address
from growth.service.tls import Certificates, Files
from tests.extender.build import question
from tests.service.authority import Authority
from tests.service.build import a_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from extender.protocol import PodHead
    from extender.verbs import Feasible
    from growth.scheduling.metadata import Metadata

pytestmark = pytest.mark.usefixtures("nothing_blocks_the_loop")

LOOPBACK = Address(host="127.0.0.1", port=0)
PLAIN = Port(name="verbs", address=LOOPBACK, files=None)
BAD = {
    "nothing": b"",
    "no JSON": b"\x00\xff garbage",
    "half of it": question(["a", "b"])[:-9],
    "an empty object": b"{}",
    "nothing but brackets": b"[" * 200_000,
    "no nodes": b'{"Pod":{}}',
}


class Scheduler:
    """What asks, and what came of it."""

    def __init__(
        self,
        url: str,
        session: aiohttp.ClientSession,
        found: list[PodHead],
        registry: CollectorRegistry,
    ) -> None:
        self.url = url
        self.session = session
        self.found = found
        self._registry = registry

    @property
    def detours(self) -> float | None:
        return self._registry.get_sample_value("growth_extender_detours_total")

    @property
    def waits(self) -> float | None:
        return self._registry.get_sample_value("growth_extender_waits_total")

    @property
    def refused(self) -> float | None:
        return self._registry.get_sample_value("growth_extender_refused_total")

    async def ask(
        self, verb: str, body: bytes | io.BytesIO | AsyncIterator[bytes], **more: Any
    ) -> tuple[int, bytes]:
        async with self.session.post(f"{self.url}/{verb}", data=body, **more) as answer:
            return answer.status, await answer.read()


def ranked(pod: Metadata, hosts: Iterable[str]) -> dict[str, int]:
    return {host: 10 if host == f"planned-for-{pod.uid}" else 1 for host in hosts}


@asynccontextmanager
async def asking(
    port: Port = PLAIN, *, feasible: Feasible | None = None, opening: Opening | None = None
) -> AsyncIterator[Scheduler]:
    service = a_service()
    found: list[PodHead] = []
    registry = CollectorRegistry()
    calls = Verbs(
        feasible=feasible or found.append,
        scores=ranked,
        opening=opening or Opening(),
        metrics=VerbMetrics(registry),
    )
    async with (
        serve_port(port, calls.application(), Certificates(service), answers=calls.answers) as url,
        aiohttp.ClientSession() as session,
    ):
        yield Scheduler(url, session, found, registry)


async def test_a_filter_gets_its_nodes_back_and_tells_that_the_pod_has_some() -> None:
    async with asking() as scheduler:
        status, answer = await scheduler.ask("filter", question(["b", "a"]))

    assert (status, json.loads(answer)) == (200, {"NodeNames": ["b", "a"]})
    (pod,) = scheduler.found
    assert (pod.uid, pod.resource_version) == ("uid-1", "7")
    assert scheduler.detours == 0


class Openings(Opening):
    """Under way for so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._left = looks

    @override
    def __bool__(self) -> bool:
        return True

    @override
    def is_under_way(self, hosts: Iterable[str], now: float) -> bool:
        self._left -= 1
        return self._left >= 0


async def test_a_filter_waits_while_the_machines_of_a_plan_open() -> None:
    openings = Openings(5)
    async with asking(opening=openings) as scheduler:
        status, answer = await scheduler.ask("filter", question(["b", "a"]))
        again, _ = await scheduler.ask("filter", question(["b", "a"]))

    assert (status, again, json.loads(answer)) == (200, 200, {"NodeNames": ["b", "a"]})
    assert len(scheduler.found) == 2, "each pod tells once that it has found a node"
    assert (scheduler.waits, scheduler.detours) == (1, 0)


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
async def test_a_question_in_chunks_takes_a_detour_to_the_same_answer(verb: str) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield question(["a"])[:9]
        yield question(["a"])[9:]

    async with asking() as scheduler:
        plain = await scheduler.ask(verb, question(["a"]))
        chunked = await scheduler.ask(verb, chunks())

    assert chunked == plain
    assert scheduler.detours == 1


async def test_a_question_about_no_node_or_no_pod_tells_nothing() -> None:
    async with asking() as scheduler:
        empty = await scheduler.ask("filter", question([]))
        nameless = await scheduler.ask("filter", question(["a"], uid=""))

    assert [json.loads(body)["NodeNames"] for _, body in (empty, nameless)] == [[], ["a"]]
    assert scheduler.found == []


async def test_nodes_are_ranked_in_whichever_form_they_came() -> None:
    node = {"metadata": {"name": "planned-for-uid-1"}}
    async with asking() as scheduler:
        names = await scheduler.ask("prioritize", question(["a", "planned-for-uid-1"]))
        whole = question([], NodeNames=None, Nodes={"items": [node]})
        nodes = await scheduler.ask("prioritize", whole)

    assert json.loads(names[1]) == [{"Host": "planned-for-uid-1", "Score": 10}]
    assert json.loads(nodes[1]) == [{"Host": "planned-for-uid-1", "Score": 10}]


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
async def test_bad_input_is_refused_in_one_line(verb: str, body: bytes) -> None:
    async with asking() as scheduler:
        status, text = await scheduler.ask(verb, body)
        afterwards, _ = await scheduler.ask(verb, question(["a"]))

    assert (status, text.count(b"\n")) == (400, 1)
    assert afterwards == 200


async def test_why_a_question_was_refused_is_told_once_a_minute_and_not_for_each_pod() -> None:
    async with asking() as scheduler:
        with capture_logs() as said:
            for body in BAD.values():
                await scheduler.ask("filter", body)
        assert scheduler.refused == len(BAD)

    [line] = said
    assert (line["log_level"], line["asked"], line["by"]) == ("warning", "/filter", "127.0.0.1")
    assert line["reason"].startswith("this isn't ExtenderArgs: ")


PIECES = st.binary(max_size=60) | st.sampled_from([question(["a"]), b'{"NodeNames":["a",'])


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(verb=st.sampled_from(["filter", "prioritize"]), pieces=st.lists(PIECES, max_size=3))
def test_no_input_at_all_is_a_failure_of_ours_or_rejects_a_node(
    verb: str, pieces: list[bytes]
) -> None:
    async def asked() -> tuple[int, bytes]:
        async with asking() as scheduler:
            return await scheduler.ask(verb, b"".join(pieces))

    status, answer = asyncio.run(asked())

    assert status in {200, 400}
    assert verb == "prioritize" or status == 400 or json.loads(answer) == {"NodeNames": ["a"]}


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain; charset=nonsense"},
        {"Content-Type": ""},
        {"Content-Encoding": "gzip"},
        {"Content-Encoding": "nonsense"},
    ],
)
async def test_headers_that_lie_are_no_failure_of_ours(headers: dict[str, str]) -> None:
    async with asking() as scheduler:
        status, _ = await scheduler.ask("filter", question(["a"]), headers=headers)

    assert status in {200, 400, 415}


async def test_a_call_of_256_mib_is_refused_before_it_comes_and_the_log_says_so() -> None:
    announced = {"Content-Length": str(256 * 2**20)}
    async with asking() as scheduler:
        with capture_logs() as said:
            status, text = await scheduler.ask("filter", endless(), headers=announced)
        afterwards, _ = await scheduler.ask("filter", question(["a"]))

    reason = "the body is larger than 16777216 bytes; set nodeCacheCapable: true, "
    assert (status, text.count(b"\n"), afterwards) == (413, 1, 200)
    assert text.decode().startswith(reason)
    [line] = said
    assert (line["log_level"], line["by"], line["reason"][: len(reason)]) == (
        "warning",
        "127.0.0.1",
        reason,
    )


async def endless() -> AsyncIterator[bytes]:
    # What comes after the end of the test is never asked for.
    while True:
        yield b" " * 2**16


async def test_a_call_of_unknown_length_is_cut_off_at_the_limit() -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        async for chunk in endless():
            sent += len(chunk)
            yield chunk

    async with asking() as scheduler:
        status, _ = await scheduler.ask("filter", chunks())

    assert status == 413
    assert sent < 2 * LARGEST_BODY


async def test_a_body_that_does_not_come_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verbs, "PATIENCE", 0.05)

    async def stuck() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async with asking() as scheduler:
        status, _ = await scheduler.ask("filter", stuck())

    assert status == 408


async def test_whole_nodes_by_the_megabyte_pass() -> None:
    nodes = {
        "items": [{"metadata": {"name": str(number)}, "x": "y" * 9000} for number in range(500)]
    }
    async with asking() as scheduler:
        body = io.BytesIO(question([], NodeNames=None, Nodes=nodes))
        status, answer = await scheduler.ask("filter", body)

    assert (status, json.loads(answer)) == (200, {"Nodes": nodes})


async def test_a_mistake_in_our_book_costs_the_scheduler_nothing() -> None:
    def broken(pod: PodHead) -> None:
        raise KeyError(pod.uid)

    async with asking(feasible=broken) as scheduler:
        answer = await scheduler.ask("filter", question(["a"]))

    assert answer == (200, b'{"NodeNames":["a"]}')


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """Whoever has signed the certificate of the verbs."""
    authority = Authority()
    authority.leaf().write_to(tmp_path / "tls")
    return authority


async def test_the_verbs_are_asked_over_tls_by_a_scheduler_without_a_certificate(
    authority: Authority, tmp_path: Path
) -> None:
    port = Port(name="verbs", address=LOOPBACK, files=Files.pair(tmp_path / "tls"))
    context = ssl.create_default_context(cadata=authority.certificate.decode())
    async with asking(port) as scheduler:
        assert scheduler.url.startswith("https://")
        answer = await scheduler.ask("filter", question(["a"]), ssl=context)

    assert answer == (200, b'{"NodeNames":["a"]}')


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.1", "example.org"])
async def test_plain_http_is_refused_where_others_could_listen(host: str) -> None:
    port = Port(name="verbs", address=Address(host=host, port=0), files=None)

    with pytest.raises(Misconfigured, match=r"--verbs-address: .* requires --verbs-tls-folder"):
        async with asking(port):
            pass


async def test_a_taken_port_is_told_by_its_setting() -> None:
    async with asking() as scheduler:
        taken = Address(host="127.0.0.1", port=int(scheduler.url.rpartition(":")[2]))
        with pytest.raises(Misconfigured, match="--verbs-address: cannot listen on"):
            async with asking(Port(name="verbs", address=taken, files=None)):
                pass


def test_the_server_is_never_the_first_to_end_an_idle_connection() -> None:
    idle_limit_of_go = 90
    assert idle_limit_of_go < REST
