"""Agents with a ServiceAccount, by an API server over HTTP that answers TokenReviews."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from aiohttp import web

from fleet.reports.access import AGENT_ROLE, AgentClaims
from fleet.serving.accounts import AUDIENCE, ISSUER, AgentAccounts
from growth.errors import RetryLater
from growth.kube.transport import connect
from growth.service.address import Address
from growth.service.web_server import accepting, listen, place_of, web_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NOT_AN_AGENT = AgentClaims(issuer=ISSUER, roles=frozenset(), cluster=None)


class TokenServer:
    """An API server that gives one answer."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.status: dict[str, Any] = {}
        self.is_broken = False

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.asked.append((await request.json())["spec"])
        return web.json_response({"status": self.status}, status=500 if self.is_broken else 201)

    def knows(self, username: str, *audiences: str) -> None:
        told = {"audiences": audiences} if audiences else {}
        self.status = {"authenticated": True, "user": {"username": username}, **told}


@asynccontextmanager
async def asking(server: TokenServer, folder: Path) -> AsyncIterator[AgentAccounts]:
    with listen(Address("127.0.0.1", 0), setting="--test") as listening:
        cluster = {"server": f"http://{place_of(listening)}"}
        context = {"cluster": "a", "user": "a"}
        told = {
            "clusters": [{"name": "a", "cluster": cluster}],
            "contexts": [{"name": "a", "context": context}],
            "users": [{"name": "a", "user": {}}],
            "current-context": "a",
        }
        file = folder / "kubeconfig"
        file.write_text(yaml.safe_dump(told))
        async with web_server(server.answer) as site, accepting(site, listening):
            connection = await connect(kubeconfig=file, process="growth-fleet")
            async with connection:
                yield AgentAccounts(connection, namespace="fleet")


@pytest.mark.parametrize(
    ("username", "audiences", "claims"),
    [
        (
            "system:serviceaccount:fleet:agent-a",
            (AUDIENCE,),
            AgentClaims(issuer=ISSUER, roles=frozenset({AGENT_ROLE}), cluster="a"),
        ),
        ("system:serviceaccount:fleet:agent-a", (), None),
        ("system:serviceaccount:fleet:agent-a", ("https://kubernetes",), None),
        ("system:serviceaccount:fleet:default", (AUDIENCE,), NOT_AN_AGENT),
        ("system:serviceaccount:other:agent-a", (AUDIENCE,), NOT_AN_AGENT),
        ("agent-a", (AUDIENCE,), NOT_AN_AGENT),
        ("system:admin", (AUDIENCE,), NOT_AN_AGENT),
    ],
)
async def test_an_account_is_the_agent_of_the_cluster_that_it_is_called_after(
    username: str, audiences: tuple[str, ...], claims: AgentClaims | None, tmp_path: Path
) -> None:
    server = TokenServer()
    server.knows(username, *audiences)
    async with asking(server, tmp_path) as accounts:
        assert await accounts.claims_of("told") == claims
    assert server.asked == [{"token": "told", "audiences": [AUDIENCE]}]


async def test_a_token_that_the_api_server_does_not_know_says_nothing(tmp_path: Path) -> None:
    server = TokenServer()
    server.status = {"authenticated": False, "audiences": [AUDIENCE]}
    async with asking(server, tmp_path) as accounts:
        assert await accounts.claims_of("forged") is None


async def test_an_api_server_that_does_not_answer_is_asked_later(tmp_path: Path) -> None:
    server = TokenServer()
    server.is_broken = True
    async with asking(server, tmp_path) as accounts:
        with pytest.raises(RetryLater):
            await accounts.claims_of("told")
