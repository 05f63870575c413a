"""The report API on a real socket: replayed, forged, oversized, slow and half requests."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from fleet.reports.access import AGENT_ROLE, AgentClaims
from fleet.reports.configuration import AgentConfiguration
from fleet.serving import door as server
from fleet.serving.bearers import KNOWN_FOR, Bearers
from fleet.serving.desk import ReportDesk
from fleet.serving.door import PREFIX, ReportDoor, open_report_door
from fleet.serving.inbox import ReportInbox
from fleet.serving.metrics import ReportMetrics
from growth.errors import RetryLater
from growth.service.address import Address
from growth.service.web_server import listen, place_of
from tests.fleet.bodies import a_body, without
from tests.fleet.building import a_cluster, amounts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fleet.core.clusters import FleetCluster

PATIENCE = 60
"""Seconds until a test gives up, on a machine that does much else."""
ROLES = frozenset({AGENT_ROLE})
TOKENS = {
    "of-a": AgentClaims(issuer="us", roles=ROLES, cluster="a"),
    "of-b": AgentClaims(issuer="us", roles=ROLES, cluster="b"),
    "of-gone": AgentClaims(issuer="us", roles=ROLES, cluster="gone"),
    "of-new": AgentClaims(issuer="us", roles=ROLES, cluster="new"),
    "of-nowhere": AgentClaims(issuer="us", roles=ROLES, cluster="nowhere"),
    "of-a-reader": AgentClaims(issuer="us", roles=frozenset(), cluster="a"),
    "of-others": AgentClaims(issuer="others", roles=ROLES, cluster="a"),
}
CLUSTERS = [
    a_cluster("a"),
    a_cluster("b"),
    a_cluster("new", "cluster_provisioning"),
    a_cluster("gone", "deprovisioning", is_soft_deleted=True),
]


@dataclass
class TokenTable:
    """Knows a few tokens, until it is told to fail."""

    asked: list[str] = field(default_factory=list)
    is_broken: bool = False

    async def claims_of(self, token: str) -> AgentClaims | None:
        self.asked.append(token)
        if self.is_broken:
            raise RetryLater("the API server doesn't answer")
        return TOKENS.get(token)


class Api:
    """The report API on loopback, and an agent before it."""

    def __init__(self, place: str, session: aiohttp.ClientSession) -> None:
        self.place = place
        self.session = session
        self.reader = TokenTable()
        self.clusters: dict[str, FleetCluster] | None = {each.name: each for each in CLUSTERS}
        self.inbox = ReportInbox()
        self.registry = CollectorRegistry()
        self.now = 0.0

    def door(self) -> ReportDoor:
        clock = lambda: self.now  # noqa: E731 - a test turns it
        desk = ReportDesk(
            lambda: self.clusters,
            inbox=self.inbox,
            configuration=AgentConfiguration(repository="test-repo", access_token="secret"),
            issuers={"us"},
        )
        bearers = Bearers(self.reader, clock=clock)
        metrics = ReportMetrics(self.registry)
        return ReportDoor(desk, bearers=bearers, metrics=metrics, clock=clock)

    async def put(
        self, body: Any = None, *, cluster: str = "a", token: str | None = "of-a", **ways: Any
    ) -> int:
        found, _ = await self.ask("PUT", f"{cluster}/status", body, token=token, **ways)
        return found

    async def ask(
        self, method: str, path: str, body: Any = None, *, token: str | None = "of-a", **ways: Any
    ) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= ways.pop("headers", {})
        data = json.dumps(a_body()).encode() if body is None else body
        data = json.dumps(data).encode() if isinstance(data, dict) else data
        url = f"http://{self.place}{PREFIX}{path}"
        async with self.session.request(
            method, url, data=data if method == "PUT" else None, headers=headers, **ways
        ) as answer:
            return answer.status, await answer.text()

    async def raw(self, head: str, body: bytes = b"") -> bytes:
        """The first line that comes back for what is sent as it is."""
        host, _, port = self.place.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(head.encode() + b"\r\n\r\n" + body)
            return await asyncio.wait_for(reader.readline(), timeout=PATIENCE)
        finally:
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def opened() -> AsyncIterator[Api]:
    listening = listen(Address(host="127.0.0.1", port=0), setting="--report-address")
    async with aiohttp.ClientSession() as session:
        api = Api(place_of(listening), session)
        async with open_report_door(api.door(), listening, tls=None):
            yield api


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with opened() as found:
        yield found


async def test_a_report_is_taken_for_the_next_pass(api: Api) -> None:
    body = a_body(instances=0)
    body["remaining"]["connections"] = 7

    assert await api.put(body) == 204

    assert api.inbox.taken()["a"].remaining == amounts(7, 0)
    assert api.inbox.count_of("a").instances == 0


async def test_a_report_that_is_sent_again_counts_once_in_a_pass(api: Api) -> None:
    assert [await api.put() for _ in range(3)] == [204] * 3
    assert list(api.inbox.taken()) == ["a"]
    assert api.inbox.taken() == {}


@pytest.mark.parametrize(
    ("cluster", "token", "status"),
    [
        ("a", None, 401),
        ("a", "forged", 401),
        ("a", "", 401),
        ("a", "x" * 8000, 401),
        ("nowhere", None, 401),
        ("b", "of-a", 404),
        ("nowhere", "of-a", 404),
        ("a", "of-a-reader", 404),
        ("a", "of-others", 404),
        ("nowhere", "of-nowhere", 400),
        ("gone", "of-gone", 400),
        ("new", "of-new", 204),
        ("b", "of-b", 204),
    ],
)
async def test_an_agent_reports_for_its_own_cluster_only(
    cluster: str, token: str | None, status: int, api: Api
) -> None:
    assert await api.put(cluster=cluster, token=token) == status
    assert list(api.inbox.taken()) == (["b"] if token == "of-b" else [])


async def test_a_stranger_learns_nothing_about_a_body(api: Api) -> None:
    assert await api.put(b"{", token="of-b") == 404
    assert await api.put(b"{", token="forged") == 401


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"null", b"[" * 30_000])
async def test_a_body_that_is_no_report_is_refused(body: bytes, api: Api) -> None:
    assert await api.put(body) == 400
    assert api.inbox.taken() == {}


async def test_the_answer_names_the_field_that_is_missing(api: Api) -> None:
    body = without(a_body(), "resizeInfo.delta.partitions")
    status, text = await api.ask("PUT", "a/status", body)
    assert (status, text) == (400, "resizeInfo.delta.partitions: is missing\n")


async def test_a_readiness_that_is_none_is_refused_only_where_reports_count(api: Api) -> None:
    body = a_body(conditions=[{"type": "Ready", "status": "perhaps"}])
    assert await api.put(body) == 400
    assert await api.put(body, cluster="new", token="of-new") == 204


async def test_an_oversized_body_is_refused_before_it_comes(api: Api) -> None:
    head = f"PUT {PREFIX}a/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer of-a"
    assert b" 413 " in await api.raw(f"{head}\r\nContent-Length: 65537")
    assert await api.put(b" " * (server.LARGEST_BODY + 1)) == 413


async def test_a_body_of_unknown_length_is_cut_off(api: Api) -> None:
    head = f"PUT {PREFIX}a/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer of-a"
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    told = await api.raw(f"{head}\r\nTransfer-Encoding: chunked", chunk * 4)
    assert b" 413 " in told


async def test_a_compressed_body_is_not_unpacked(api: Api) -> None:
    assert await api.put(b"x", headers={"Content-Encoding": "gzip"}) == 415


async def test_a_slow_or_half_body_ends_and_others_are_answered_meanwhile(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.3)
    head = f"PUT {PREFIX}a/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer of-a"
    half = asyncio.create_task(api.raw(f"{head}\r\nContent-Length: 900", b'{"total"'))
    assert await api.put(cluster="b", token="of-b") == 204
    assert b" 408 " in await half
    assert list(api.inbox.taken()) == ["b"]


async def test_an_agent_that_leaves_in_the_middle_leaves_nothing(api: Api) -> None:
    host, _, port = api.place.partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    head = f"PUT {PREFIX}a/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer of-a\r\n"
    writer.write(f"{head}Content-Length: 900\r\n\r\n{{".encode())
    writer.close()
    await writer.wait_closed()
    assert await api.put(cluster="b", token="of-b") == 204
    assert list(api.inbox.taken()) == ["b"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "a", 200),
        ("GET", "b", 404),
        ("PUT", "a", 405),
        ("GET", "a/status", 405),
        ("POST", "a/status", 405),
        ("PUT", "a/status/", 404),
        ("PUT", "A/status", 404),
        ("PUT", "..%2Fa/status", 404),
        ("PUT", f"{'a' * 64}/status", 404),
        ("PUT", "/status", 404),
    ],
)
async def test_only_the_paths_of_the_contract_are_served(
    method: str, path: str, status: int, api: Api
) -> None:
    assert (await api.ask(method, path))[0] == status


async def test_an_agent_asks_for_its_configuration(api: Api) -> None:
    status, text = await api.ask("GET", "a")
    observability = {
        "repository": "test-repo",
        "channel": "",
        "access_token": "secret",
        "tag": "",
    }
    assert (status, json.loads(text)) == (200, {"spec": {"observability": observability}})


async def test_a_cluster_that_reports_too_often_waits_and_others_do_not(api: Api) -> None:
    told = [await api.put() for _ in range(21)]
    assert told == [204] * 20 + [429]
    assert await api.put(cluster="b", token="of-b") == 204
    api.now += 0.1
    assert await api.put() == 204


async def test_invented_tokens_are_limited_and_known_ones_are_not(api: Api) -> None:
    assert await api.put() == 204
    told = [await api.put(token=f"invented-{number}") for number in range(101)]
    assert (told[0], told[-1]) == (401, 429)
    assert len(api.reader.asked) == 100
    assert await api.put() == 204


async def test_a_token_is_asked_about_again_after_a_while(api: Api) -> None:
    assert [await api.put(), await api.put()] == [204, 204]
    assert api.reader.asked == ["of-a"]
    api.now += KNOWN_FOR
    assert await api.put() == 204
    assert api.reader.asked == ["of-a", "of-a"]


async def test_while_tokens_or_clusters_are_unknown_agents_try_again(api: Api) -> None:
    api.reader.is_broken = True
    assert await api.put() == 503
    api.reader.is_broken = False
    assert await api.put() == 204
    api.clusters = None
    assert await api.put() == 503
    assert await api.put(cluster="b") == 404


async def test_answers_are_counted(api: Api) -> None:
    await api.put()
    await api.put(token=None)
    for status in ("204", "401"):
        found = api.registry.get_sample_value(
            "growth_fleet_report_requests_total", {"status": status}
        )
        assert found == 1
