"""Rotation under load: real sockets, the real writer, files that come late and in halves.

Eight clients open a connection for each request and never pause. Twenty times the certificates are
renewed, twice under a new authority, and some of the Secrets are half-written for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import aiohttp
import pytest
from aiohttp import web

from certs.tending import tend
from certs.wanted import EXTENDER, OWN, RECONCILER, WEBHOOKS, Policy
from growth.service.tls import Certificates, Files
from tests.certs.api import Api
from tests.certs.build import becomes, leading, objects
from tests.service.build import a_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    Newest = Callable[[], ssl.SSLContext]
    Bring = Callable[[], Awaitable[None]]

pytestmark = pytest.mark.timeout(240)

CLIENTS = 8
ROTATIONS = 20
NEW_AUTHORITY = {6, 13}
HALF_WRITTEN = {3, 9, 16}
SOON = 0.01
PROMPT = Policy(overlap=timedelta(seconds=5))
"""The overlap passes on the API server's clock, which the test moves on."""


@dataclass
class Load:
    """Requests without a pause, each over a connection of its own."""

    url: str
    newest: Newest
    answered: int = 0
    failed: list[str] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def pressing(self) -> AsyncIterator[Load]:
        clients = [asyncio.create_task(self._press()) for _ in range(CLIENTS)]
        try:
            yield self
        finally:
            for client in clients:
                client.cancel()
            await asyncio.gather(*clients, return_exceptions=True)

    async def _press(self) -> None:
        connector = aiohttp.TCPConnector(force_close=True)
        async with aiohttp.ClientSession(connector=connector) as session:
            while True:
                try:
                    async with session.get(self.url, ssl=self.newest()) as answer:
                        assert await answer.text() == "hello"
                except (aiohttp.ClientError, OSError) as error:
                    self.failed.append(repr(error))
                self.answered += 1

    async def goes_on(self) -> None:
        """Until each client has had an answer to a request that began after this call."""
        wanted = self.answered + 2 * CLIENTS
        await becomes(lambda: self.answered >= wanted)


class Site:
    """Processes with their folders, and the cluster that their files come from."""

    def __init__(self, folder: Path) -> None:
        self.api = Api(now=datetime.now(UTC))
        self.api.install_webhooks()
        self.folder = folder
        self.service = a_service()
        self.certificates = Certificates(self.service, interval=SOON)

    async def round(self) -> None:
        """What the reconciler's leader does each minute."""
        done = await tend(objects(self.api, PROMPT), may_write=leading)
        assert done.problems == ()

    async def bring(self, secret: str) -> None:
        """What the kubelet does, but file by file."""
        await asyncio.to_thread(_write, self.folder / secret, self.api.content(secret))

    async def bring_all(self, *secrets: str) -> None:
        """Every change reaches every folder, one after the other, under load."""
        for secret in secrets:
            await self.bring(secret)
            await asyncio.sleep(5 * SOON)

    def counted(self, metric: str, certificate: str) -> float:
        return self.service.registry.get_sample_value(metric, {"certificate": certificate}) or 0

    @contextlib.asynccontextmanager
    async def serving(self, name: str, files: Files) -> AsyncIterator[str]:
        """A server, and its address."""
        application = web.Application()
        application.add_routes([web.get("/", _hello)])
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        async with self.certificates.serving(name, files) as context:
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
            try:
                yield f"https://127.0.0.1:{runner.addresses[0][1]}/"
            finally:
                await runner.cleanup()


async def _hello(_: web.Request) -> web.Response:
    return web.Response(text="hello")


def _write(folder: Path, content: dict[str, bytes]) -> None:
    folder.mkdir(exist_ok=True)
    for name, data in content.items():
        (folder / name).write_bytes(data)


async def rotate(site: Site, load: Load, number: int, *, shown: str, bring: Bring) -> None:
    """One rotation, with what the leader does and what the kubelet brings of it."""
    if number in HALF_WRITTEN:
        site.api.change(shown, **{"tls.key": b"-----BEGIN PRIVATE KEY-----"})
        await bring()
        metric = "growth_certificate_files_refused"
        await becomes(lambda: site.counted(metric, shown) == 1)
        await load.goes_on()
    site.api.ask_for_rotation(OWN.name if number in NEW_AUTHORITY else shown)
    # A new authority takes three rounds: it is trusted, it signs, the old one is forgotten.
    for _ in range(3 if number in NEW_AUTHORITY else 1):
        await site.round()
        await bring()
        await load.goes_on()
        site.api.pass_time(PROMPT.overlap)


async def test_the_api_server_meets_no_failure_while_the_webhook_is_rotated(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.round()
    await site.bring(WEBHOOKS.name)
    contexts = [_trusting(site.api.bundle)]

    async def bring() -> None:
        await site.bring_all(WEBHOOKS.name)
        # The API server's own cache is late as well, and by another time.
        contexts[0] = _trusting(site.api.bundle)

    files = Files.pair(tmp_path / WEBHOOKS.name)
    async with (
        site.serving(WEBHOOKS.name, files) as url,
        Load(url, lambda: contexts[0]).pressing() as load,
    ):
        first = site.api.bundle
        for number in range(ROTATIONS):
            await rotate(site, load, number, shown=WEBHOOKS.name, bring=bring)

        assert load.failed == []
        assert site.counted("growth_certificate_swaps_total", WEBHOOKS.name) > ROTATIONS
        assert site.api.bundle.count(b"BEGIN") == 1
        assert site.api.bundle != first
        with_the_first = Load(url, lambda: _trusting(first))
        async with with_the_first.pressing():
            await with_the_first.goes_on()
        assert len(with_the_first.failed) == with_the_first.answered


@pytest.mark.parametrize("rotations", [8, pytest.param(ROTATIONS, marks=pytest.mark.long)])
async def test_a_stream_meets_no_failure_while_both_its_sides_are_rotated(
    tmp_path: Path, rotations: int
) -> None:
    site = Site(tmp_path)
    await site.round()
    sides = EXTENDER.name, RECONCILER.name
    await site.bring_all(*sides)
    server, client = (Files.mutual(tmp_path / name) for name in sides)
    async with (
        site.serving(EXTENDER.name, server) as url,
        site.certificates.calling(RECONCILER.name, client) as newest,
        Load(url, newest).pressing() as load,
    ):
        for number in range(rotations):
            shown = sides[number % 2]
            # Either side may be the first to hear of a change.
            order = sides if number % 3 else sides[::-1]
            bring = partial(site.bring_all, *order)
            await rotate(site, load, number, shown=shown, bring=bring)

        assert load.failed == []
        swaps = [site.counted("growth_certificate_swaps_total", name) for name in sides]
        assert sum(swaps) > rotations


def _trusting(bundle: bytes) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=bundle.decode())
