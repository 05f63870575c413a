"""Reading without a cache: whole lists, what isn't there, and a server that is busy."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from growth.errors import RetryLater
from growth.kube.errors import ApiError, NotFound, Overloaded
from growth.kube.reads import Reads
from growth.kube.transport import Response

if TYPE_CHECKING:
    from growth.kube.transport import Connection

PODS = "/api/v1/pods"


class Answering:
    """Answers in their order, and what was asked for."""

    def __init__(self, *answers: object) -> None:
        self.asked: list[dict[str, str]] = []
        self._answers = iter(answers)

    async def request(self, _method: str, _path: str, **words: Any) -> Response:
        self.asked.append(dict(words["query"]))
        answer = next(self._answers)
        if isinstance(answer, ApiError):
            raise answer
        return Response(status=200, headers={}, body=msgspec.json.encode(answer))


def reads(server: Answering, *, patience: float = 0.0) -> Reads:
    return Reads(cast("Connection", server), patience=patience)


def page(*names: str, after: str = "") -> dict[str, Any]:
    return {
        "metadata": {"continue": after},
        "items": [{"metadata": {"name": name}} for name in names],
    }


def names(items: list[dict[str, Any]]) -> list[str]:
    return [each["metadata"]["name"] for each in items]


async def test_a_long_list_is_read_page_by_page() -> None:
    server = Answering(page("a", "b", after="token"), page("c"))

    found = await reads(server).listed(PODS, {"labelSelector": "app=web"})

    assert names(found) == ["a", "b", "c"]
    first = {"labelSelector": "app=web", "limit": "500"}
    assert server.asked == [first, {**first, "continue": "token"}]


async def test_of_a_long_list_some_are_one_page() -> None:
    server = Answering(page("a", after="token"))

    assert names(await reads(server).some(PODS, most=1)) == ["a"]
    assert server.asked == [{"limit": "1"}]


async def test_what_is_not_there_is_no_error() -> None:
    server = Answering(*(NotFound("gone") for _ in range(3)))
    asker = reads(server)

    assert await asker.found(f"{PODS}/web") is None
    assert await asker.listed(PODS) == []
    assert await asker.some(PODS) == []


async def test_a_list_that_has_to_be_there_is_missed() -> None:
    with pytest.raises(NotFound):
        await reads(Answering(NotFound("gone"))).undecoded(PODS)


@pytest.mark.looptime
async def test_a_busy_server_is_asked_again_when_it_said() -> None:
    busy = Overloaded("busy")
    busy.after = 3.0
    server = Answering(busy, busy, {"kind": "Pod"})
    began = asyncio.get_running_loop().time()

    assert await reads(server, patience=10).found(f"{PODS}/web") == {"kind": "Pod"}
    assert asyncio.get_running_loop().time() - began == pytest.approx(6)


@pytest.mark.looptime
async def test_patience_has_an_end() -> None:
    server = Answering(*(Overloaded("busy") for _ in range(100)))

    with pytest.raises(Overloaded):
        await reads(server, patience=1).found(f"{PODS}/web")
    assert 3 < len(server.asked) < 10


async def test_an_answer_that_is_no_list_is_named() -> None:
    with pytest.raises(RetryLater, match="list pods: the answer isn't a list"):
        await reads(Answering("hello")).listed(PODS)
