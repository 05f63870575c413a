"""Who may read metrics: a table, and a real exchange of HTTP with an API server that answers it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from growth.service.address import Address, is_loopback
from growth.service.metrics_access import FOR_EVERYONE, KNOWN_FOR, PAUSE, MetricsGuard
from growth.service.settings import MetricsAccess
from growth.service.web_server import accepting, listen, place_of, web_server
from tests.service.build import BakerySettings

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

ELSEWHERE = "192.0.2.7"
PROMETHEUS, STRANGER = "the token of Prometheus", "the token of somebody"


class ApiServer:
    """It knows two tokens, and the owner of one may read metrics."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.is_broken = False

    async def answer(self, request: web.BaseRequest) -> web.Response:
        body = await request.json()
        self.asked.append(body)
        if self.is_broken:
            return web.json_response({"kind": "Status", "message": "no etcd"}, status=500)
        return web.json_response({"status": self._status(body["kind"], body["spec"])})

    def _status(self, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
        if kind == "SubjectAccessReview":
            asks = {"path": "/metrics", "verb": "get"}
            is_reader = spec["user"] == PROMETHEUS and spec["groups"] == ["monitoring"]
            return {"allowed": is_reader and spec["nonResourceAttributes"] == asks}
        if spec["token"] not in {PROMETHEUS, STRANGER}:
            return {"authenticated": False, "error": "invalid bearer token"}
        owner = {"username": spec["token"], "uid": "1", "groups": ["monitoring"]}
        return {"authenticated": True, "user": owner}


class Guarded:
    """The guard, with a clock that only the test moves."""

    def __init__(self, settings: BakerySettings, server: ApiServer) -> None:
        self.server = server
        self.now = 0.0
        self.guard = MetricsGuard(settings, process="bakery", clock=lambda: self.now)

    async def status(self, token: str = "", *, by: str = ELSEWHERE, query: str = "") -> int:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = make_mocked_request("GET", f"/metrics{query}", headers=headers)
        refusal = await self.guard.refusal(request.clone(remote=by))
        return 200 if refusal is None else refusal.status


class Place(NamedTuple):
    """A socket for the API server, and the settings of a process that finds it there."""

    listening: socket.socket
    settings: BakerySettings


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with listen(Address("127.0.0.1", 0), setting="--test") as listening:
        found = kubeconfig(tmp_path, f"http://{place_of(listening)}")
        yield Place(listening, BakerySettings(kubeconfig=found))


@asynccontextmanager
async def guarded(
    place: Place, access: MetricsAccess = MetricsAccess.AUTHENTICATED
) -> AsyncIterator[Guarded]:
    server = ApiServer()
    async with web_server(server.answer) as web_site, accepting(web_site, place.listening):
        settings = place.settings.model_copy(update={"metrics_access": access})
        found = Guarded(settings, server)
        async with found.guard:
            yield found


def kubeconfig(folder: Path, server: str) -> Path:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": {"server": server}}],
        "users": [{"name": "us", "user": {"token": "ours"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "us"}}],
        "current-context": "here",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content), "utf-8")
    return path


@pytest.mark.parametrize(
    ("access", "by", "token", "status"),
    [
        ("loopback", "127.0.0.1", "", 200),
        ("loopback", ELSEWHERE, PROMETHEUS, 403),
        ("authenticated", "127.0.0.1", "", 200),
        ("authenticated", "::1", "", 200),
        ("authenticated", "::ffff:127.0.0.1", "", 200),
        ("authenticated", "::ffff:192.0.2.7", "", 401),
        ("authenticated", ELSEWHERE, "", 401),
        ("authenticated", ELSEWHERE, "invented", 401),
        ("authenticated", ELSEWHERE, STRANGER, 403),
        ("authenticated", ELSEWHERE, PROMETHEUS, 200),
        ("open", ELSEWHERE, "", 200),
    ],
)
async def test_who_may_read_metrics(
    access: str, by: str, token: str, status: int, place: Place
) -> None:
    async with guarded(place, MetricsAccess(access)) as page:
        assert await page.status(token, by=by) == status


def test_by_default_others_need_a_token() -> None:
    assert BakerySettings().metrics_access is MetricsAccess.AUTHENTICATED


async def test_an_answer_of_the_api_server_counts_for_a_while(place: Place) -> None:
    async with guarded(place) as page:
        for _ in range(5):
            assert await page.status(PROMETHEUS) == 200
        assert [each["kind"] for each in page.server.asked] == [
            "TokenReview",
            "SubjectAccessReview",
        ]

        page.now += KNOWN_FOR
        assert await page.status(PROMETHEUS) == 200
        assert len(page.server.asked) == 4


async def test_invented_tokens_cost_one_question_a_second_and_keep_no_other_address_out(
    place: Place,
) -> None:
    async with guarded(place) as page:
        found = [await page.status(f"invented {number}") for number in range(50)]
        assert found == [401] + 49 * [429]
        assert len(page.server.asked) == 1
        assert await page.status(PROMETHEUS, by="192.0.2.8") == 200

        page.now += PAUSE
        assert await page.status("invented again") == 401


async def test_a_known_token_is_let_in_while_its_address_asks_too_often(place: Place) -> None:
    async with guarded(place) as page:
        assert await page.status(PROMETHEUS) == 200
        assert await page.status("invented") == 429
        assert await page.status(PROMETHEUS) == 200


async def test_while_the_api_server_does_not_answer_nothing_is_shown_or_remembered(
    place: Place,
) -> None:
    async with guarded(place) as page:
        page.server.is_broken = True
        assert await page.status(PROMETHEUS) == 503

        page.server.is_broken = False
        page.now += PAUSE
        assert await page.status(PROMETHEUS) == 200


async def test_everyone_may_see_whether_the_extender_is_called_and_nothing_else(
    place: Place,
) -> None:
    names = "&".join(f"name[]={name}" for name in sorted(FOR_EVERYONE))
    async with guarded(place) as page:
        assert await page.status(query=f"?{names}") == 200
        assert await page.status(query=f"?{names}&name[]=growth_pool_cost") == 401
        assert await page.status(query="?name[]=") == 401
        assert page.server.asked == []


async def test_a_question_that_is_given_up_harms_no_other(place: Place) -> None:
    async with guarded(place) as page:
        asking = asyncio.create_task(page.status(PROMETHEUS, by="192.0.2.8"))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

        assert await page.status(PROMETHEUS) == 200


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("::ffff:127.0.0.1", True), ("::ffff:192.0.2.7", False), ("::1", True), ("", False)],
)
def test_an_address_of_the_older_family_counts_as_what_it_is(host: str, is_here: bool) -> None:  # noqa: FBT001
    assert is_loopback(host) is is_here
