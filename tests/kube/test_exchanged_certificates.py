"""Certificates that are exchanged while a process lives, on either side."""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from growth.errors import Misconfigured
from growth.kube import credentials
from growth.kube.transport import Connection, connect
from tests.kube.listening import kubeconfig, listening, status
from tests.service.authority import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.service.authority import Pair

VERSION = "/version"


@dataclass
class Server:
    """An API server that knows clients by their certificates, and closes after each answer."""

    folder: Path
    tls: ssl.SSLContext
    rejected: str = ""

    def show(self, pair: Pair) -> None:
        """From the next connection on."""
        pair.write_to(self.folder)
        self.tls.load_cert_chain(self.folder / "tls.crt", self.folder / "tls.key")

    async def answer(self, request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        subject = request.transport.get_extra_info("peercert")["subject"]
        [[(_, name)]] = subject
        refused = name == self.rejected
        body = status(401, reason="Unauthorized") if refused else {"name": name}
        answer = web.json_response(body, status=401 if refused else 200)
        answer.force_close()
        return answer


@dataclass
class Stage:
    server: Server
    connection: Connection
    authority: Path
    mine: Path

    async def who_am_i(self) -> str:
        name: str = (await self.connection.request("GET", VERSION)).json()["name"]
        return name


@pytest.fixture
def old() -> Authority:
    return Authority("old")


@pytest.fixture
async def stage(
    old: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    monkeypatch.setattr(credentials, "SHORTEST", 0.0)
    async with _staged(old, tmp_path) as stage:
        yield stage


@asynccontextmanager
async def _staged(old: Authority, folder: Path) -> AsyncIterator[Stage]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(cadata=old.certificate.decode())
    server = Server(folder / "server", tls)
    server.show(old.leaf())
    mine = folder / "mine"
    old.client("first").write_to(mine, authorities=old.certificate)
    async with listening(server.answer, tls=tls) as address:
        files = {"client-certificate": str(mine / "tls.crt"), "client-key": str(mine / "tls.key")}
        config = kubeconfig(address, authority=str(mine / "ca.crt"), **files)
        (folder / "config").write_text(config)
        async with await connect(kubeconfig=folder / "config") as connection:
            yield Stage(server, connection, mine / "ca.crt", mine)


async def test_an_exchanged_authority_is_trusted_by_the_same_request(
    stage: Stage, old: Authority
) -> None:
    new = Authority("new")
    assert await stage.who_am_i() == "first"
    stage.server.show(new.leaf())
    stage.authority.write_bytes(old.certificate + new.certificate)

    assert await stage.who_am_i() == "first"


async def test_a_watch_trusts_the_exchanged_authority_at_its_second_try(stage: Stage) -> None:
    new = Authority("new")
    stage.server.show(new.leaf())
    stage.authority.write_bytes(new.certificate)

    with pytest.raises(Misconfigured, match="isn't that of this server"):
        async with stage.connection.stream(VERSION, query={}):
            pass
    async with stage.connection.stream(VERSION, query={}) as answer:
        assert answer.status == 200


async def test_an_authority_that_stays_wrong_is_said_after_the_second_try(stage: Stage) -> None:
    stage.server.show(Authority("stranger").leaf())

    with pytest.raises(Misconfigured, match="isn't that of this server"):
        await stage.who_am_i()


async def test_an_exchanged_client_certificate_is_shown_when_the_old_one_is_rejected(
    stage: Stage, old: Authority
) -> None:
    assert await stage.who_am_i() == "first"
    old.client("second").write_to(stage.mine, authorities=old.certificate)
    assert await stage.who_am_i() == "first"

    stage.server.rejected = "first"
    assert await stage.who_am_i() == "second"


async def test_an_exchanged_client_certificate_is_found_without_any_rejection(
    stage: Stage, old: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "PERIOD", 0.0)
    assert await stage.who_am_i() == "first"
    old.client("second").write_to(stage.mine, authorities=old.certificate)

    assert await stage.who_am_i() == "second"


async def test_a_certificate_whose_key_is_still_being_written_is_waited_for(
    stage: Stage, old: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "PERIOD", 0.0)
    second = old.client("second")
    (stage.mine / "tls.crt").write_bytes(second.certificate)
    with capture_logs() as logs:
        assert await stage.who_am_i() == "first"
    warnings = {line["event"] for line in logs if line["log_level"] == "warning"}
    assert warnings == {"could not reload the credentials"}

    (stage.mine / "tls.key").write_bytes(second.key)
    assert await stage.who_am_i() == "second"


async def test_files_that_say_nothing_new_keep_the_connections_that_there_are(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "PERIOD", 0.0)
    before = stage.connection._credentials.tls
    await stage.who_am_i()

    assert stage.connection._credentials.tls is before
