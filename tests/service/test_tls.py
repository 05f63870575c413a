"""Certificates are swapped while they serve, over real sockets on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import socket
import ssl
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import aiohttp
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec

from growth.errors import RetryLater
from growth.service.tls import Certificates, Files
from tests.service.authority import Authority, Pair, mount, pem, weak
from tests.service.build import a_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

SOON = 0.02
HOUR = timedelta(hours=1)
REFUSED = (ssl.SSLError, aiohttp.ClientError, ConnectionError)


class Bench:
    """A process that serves, and clients that call it."""

    def __init__(self, folder: Path) -> None:
        self.stream = io.StringIO()
        self.service = a_service(stream=self.stream)
        self.ahead = timedelta()
        self.certificates = Certificates(
            self.service, interval=SOON, now=lambda: datetime.now(UTC) + self.ahead
        )
        self.folder = folder
        self.port = 0

    @contextlib.asynccontextmanager
    async def serving(self, files: Files) -> AsyncIterator[Bench]:
        async def hello(_: web.Request) -> web.Response:
            return web.Response(text="hello")

        application = web.Application()
        application.add_routes([web.get("/", hello)])
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        async with self.certificates.serving("bread", files) as context:
            site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
            await site.start()
            self.port = runner.addresses[0][1]
            try:
                yield self
            finally:
                await runner.cleanup()

    async def served_by(
        self, context: ssl.SSLContext, *, name: str | None = None, version: str = ""
    ) -> str:
        """The common name of whoever answers a new connection."""
        if version:
            context.maximum_version = ssl.TLSVersion[version]
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=context, server_hostname=name or "127.0.0.1"
        )
        try:
            writer.write(b"GET / HTTP/1.1\r\nHost: bread\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            if not answer.endswith(b"hello"):
                raise ConnectionError("no answer")
            subject = writer.get_extra_info("peercert")["subject"]
            return str(dict(pair[0] for pair in subject)["commonName"])
        finally:
            writer.close()
            with contextlib.suppress(*REFUSED):
                await writer.wait_closed()

    @property
    def missing(self) -> str | None:
        return next(
            verdict.missing
            for verdict in self.service.health.readiness()
            if verdict.name == "certificate of bread"
        )

    def said(self, message: str) -> list[str]:
        lines = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        return [line.get("reason", "") for line in lines if line["message"] == message]

    def counted(self, name: str) -> float | None:
        return self.service.registry.get_sample_value(name, {"certificate": "bread"})


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def trusting(*authorities: Authority, showing: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(
        cadata="".join(authority.certificate.decode() for authority in authorities)
    )
    if showing is not None:
        context.load_cert_chain(showing / "tls.crt", showing / "tls.key")
    return context


async def comes_true(done: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not done():  # noqa: ASYNC110 - the files have no event to wait for
            await asyncio.sleep(SOON / 2)


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
async def test_a_new_pair_is_shown_to_clients_with_and_without_a_server_name(
    bench: Bench, name: str, version: str
) -> None:
    old, new = Authority("old"), Authority("new")
    await mount(bench.folder, old.leaf("first"))
    async with bench.serving(Files.pair(bench.folder)):
        first = await bench.served_by(trusting(old), name=name, version=version)
        await mount(bench.folder, new.leaf("second"))
        await comes_true(lambda: bench.counted("growth_certificate_swaps_total") == 2)
        second = await bench.served_by(trusting(new), name=name, version=version)

        assert (first, second) == ("first", "second")
        with pytest.raises(ssl.SSLCertVerificationError):
            await bench.served_by(trusting(old), name=name, version=version)


async def test_a_connection_that_is_open_lives_through_a_swap(bench: Bench) -> None:
    authority = Authority()
    await mount(bench.folder, authority.leaf("first"))
    async with bench.serving(Files.pair(bench.folder)), aiohttp.ClientSession() as session:
        url, tls = f"https://127.0.0.1:{bench.port}/", trusting(authority)
        async with session.get(url, ssl=tls) as answer:
            assert await answer.text() == "hello"
        await mount(bench.folder, Authority("other").leaf("second"))
        await comes_true(lambda: bench.counted("growth_certificate_swaps_total") == 2)

        async with session.get(url, ssl=tls) as answer:
            assert await answer.text() == "hello"


async def test_files_that_come_late_make_a_server_ready_late(bench: Bench) -> None:
    authority = Authority()
    async with bench.serving(Files.pair(bench.folder)):
        assert bench.missing == f"none yet: {bench.folder}/tls.crt: no such file or directory"
        with pytest.raises(REFUSED):
            await bench.served_by(trusting(authority))

        await mount(bench.folder, authority.leaf("at last"))
        await comes_true(lambda: bench.missing is None)

        assert await bench.served_by(trusting(authority)) == "at last"


def _bad_pairs() -> dict[str, tuple[Callable[[Authority], Pair], str]]:
    key = ec.generate_private_key(ec.SECP256R1())
    return {
        "the key of another": (
            lambda ca: Pair(ca.leaf().certificate, ca.leaf().key),
            "{0}/tls.key: the key doesn't belong to {0}/tls.crt",
        ),
        "half a certificate": (
            lambda ca: Pair(ca.leaf().certificate[:200], ca.leaf().key),
            "{0}/tls.crt: this is not a certificate in PEM",
        ),
        "half a key": (
            lambda ca: Pair(ca.leaf().certificate, ca.leaf().key[:60]),
            "{0}/tls.key: this is not a private key in PEM",
        ),
        "empty files": (lambda _: Pair(b"", b""), "{0}/tls.crt: this is not a certificate in PEM"),
        "a key with a password": (
            lambda ca: Pair(ca.leaf().certificate, pem(key, password="abc")),
            "{0}/tls.key: the key is encrypted; store it without a password",
        ),
        "a key that is too weak": (
            lambda _: weak(),
            "{0}/tls.crt: OpenSSL refuses it: ",
        ),
        "run out": (
            lambda ca: ca.leaf("spent", begin=-2 * HOUR, end=-HOUR),
            "{0}/tls.crt: spent expired at ",
        ),
        "not yet valid": (
            lambda ca: ca.leaf("unripe", begin=HOUR, end=2 * HOUR),
            "{0}/tls.crt: unripe is not valid before ",
        ),
        "made for a client": (
            lambda ca: ca.client(),
            "{0}/tls.crt: the certificate is not for a server",
        ),
    }


@pytest.mark.parametrize("name", _bad_pairs())
async def test_a_bad_pair_is_reported_once_and_never_served(bench: Bench, name: str) -> None:
    make, reason = _bad_pairs()[name]
    authority = Authority()
    await mount(bench.folder, authority.leaf("good"))
    async with bench.serving(Files.pair(bench.folder)):
        bad = make(authority)
        await mount(bench.folder, bad)
        await comes_true(lambda: bench.counted("growth_certificate_files_refused") == 1)
        await asyncio.sleep(5 * SOON)

        assert await bench.served_by(trusting(authority)) == "good"
        assert bench.missing is None
        told = bench.said("certificate refused")
        assert len(told) == 1
        assert told[0].startswith(reason.format(bench.folder))

        await mount(bench.folder, authority.leaf("better"))
        await comes_true(lambda: bench.counted("growth_certificate_files_refused") == 0)
        assert await bench.served_by(trusting(authority)) == "better"


async def test_a_swap_between_two_reads_never_mixes_two_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority()
    old, new = authority.leaf("old"), authority.leaf("new")
    await mount(tmp_path, old)
    await mount(tmp_path / "next", new)
    read = type(tmp_path).read_bytes
    swapped: list[Path] = []

    def swaps_after_the_certificate(path: Path) -> bytes:
        content = read(path)
        if not swapped and path.name == "tls.crt":
            swapped.append(path)
            (tmp_path / "link").symlink_to((tmp_path / "next" / "..data").resolve())
            (tmp_path / "link").replace(tmp_path / "..data")
        return content

    monkeypatch.setattr(type(tmp_path), "read_bytes", swaps_after_the_certificate)
    content = await asyncio.to_thread(Files.pair(tmp_path).read)
    assert swapped
    assert (content.certificate, content.key) == (new.certificate, new.key)


async def test_a_certificate_that_runs_out_while_it_serves_takes_readiness_away(
    bench: Bench,
) -> None:
    authority = Authority()
    await mount(bench.folder, authority.leaf("mortal", end=HOUR))
    async with bench.serving(Files.pair(bench.folder)):
        assert bench.missing is None
        expiry = bench.counted("growth_certificate_expiry_timestamp_seconds")
        assert expiry == pytest.approx((datetime.now(UTC) + HOUR).timestamp(), abs=60)

        bench.ahead = timedelta(days=365)

        assert str(bench.missing).startswith("it expired at 20")


def strangers() -> dict[str, Callable[[Authority], Pair | None]]:
    return {
        "none at all": lambda _: None,
        "one of another authority": lambda _: Authority("foreign").client(),
        "one of another authority with the same name": lambda _: Authority("known").client(),
        "one that has run out": lambda known: known.client(end=-HOUR),
        "one of a server": lambda known: known.leaf(),
    }


@pytest.mark.parametrize("name", strangers())
async def test_a_mutual_server_refuses_a_client_that_shows(
    bench: Bench, tmp_path: Path, name: str
) -> None:
    known = Authority("known")
    await mount(bench.folder, known.leaf(), authorities=known.certificate)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    shown = strangers()[name](known)
    await mount(ours, known.client())
    if shown is not None:
        await mount(theirs, shown)
    async with bench.serving(Files.mutual(bench.folder)):
        with pytest.raises(REFUSED):
            await bench.served_by(trusting(known, showing=None if shown is None else theirs))

        assert await bench.served_by(trusting(known, showing=ours)) == "leaf"


async def test_a_mutual_server_speaks_nothing_older_than_tls_1_3(
    bench: Bench, tmp_path: Path
) -> None:
    known = Authority()
    await mount(bench.folder, known.leaf(), authorities=known.certificate)
    await mount(tmp_path / "ours", known.client())
    async with bench.serving(Files.mutual(bench.folder)):
        with pytest.raises(REFUSED):
            await bench.served_by(trusting(known, showing=tmp_path / "ours"), version="TLSv1_2")


def _call(
    port: int, context: ssl.SSLContext, session: ssl.SSLSession | None = None
) -> ssl.SSLSession | None:
    """One request by hand: asyncio has no word for resuming a session."""
    with (
        socket.create_connection(("127.0.0.1", port)) as plain,
        context.wrap_socket(plain, server_hostname="localhost", session=session) as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: bread\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(partial(connection.recv, 4096), b""))
        if not answer.endswith(b"hello"):
            raise ConnectionError("no answer")
        return connection.session


async def test_a_client_whose_authority_is_gone_can_not_resume_its_session(
    bench: Bench, tmp_path: Path
) -> None:
    old, new = Authority("old"), Authority("new")
    both = old.certificate + new.certificate
    await mount(tmp_path / "theirs", old.client())
    await mount(bench.folder, old.leaf("first"), authorities=both)
    async with bench.serving(Files.mutual(bench.folder)):
        client = trusting(old, new, showing=tmp_path / "theirs")
        session = await asyncio.to_thread(_call, bench.port, client)
        await mount(bench.folder, old.leaf("second"), authorities=new.certificate)
        await comes_true(lambda: bench.counted("growth_certificate_swaps_total") == 2)

        with pytest.raises(REFUSED):
            await asyncio.to_thread(_call, bench.port, client, session)


async def test_a_caller_shows_its_newest_certificate_and_trusts_the_newest_authorities(
    bench: Bench, tmp_path: Path
) -> None:
    old, new = Authority("old"), Authority("new")
    ours = tmp_path / "ours"
    await mount(bench.folder, old.leaf("first"), authorities=old.certificate)
    async with (
        bench.serving(Files.mutual(bench.folder)),
        bench.certificates.calling("stream", Files.mutual(ours)) as newest,
        aiohttp.ClientSession() as session,
    ):
        with pytest.raises(RetryLater, match=r"no client certificate yet: .*tls\.crt: no such"):
            newest()
        await mount(ours, old.client(), authorities=old.certificate)
        await comes_true(lambda: len(bench.said("certificate loaded")) == 2)
        url = f"https://127.0.0.1:{bench.port}/"
        async with session.get(url, ssl=newest()) as answer:
            assert answer.status == 200

        await mount(bench.folder, new.leaf("second"), authorities=new.certificate)
        await mount(ours, new.client(), authorities=new.certificate)
        await comes_true(lambda: len(bench.said("certificate loaded")) == 4)

        async with session.get(url, ssl=newest()) as answer:
            assert answer.status == 200


async def test_ready_does_not_mean_able_to_call(bench: Bench) -> None:
    async with bench.certificates.calling("stream", Files.mutual(bench.folder)):
        assert all(verdict.good for verdict in bench.service.health.readiness())
