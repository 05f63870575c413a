"""However many clients a port has, so many are let in, and the next ones when those have left."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from growth.service import web_server as serving
from growth.service.address import Address
from growth.service.connections import ConnectionLimits
from growth.service.web_server import accepting, listen, web_server
from tests.service.authority import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    Place = tuple[str, int]

ASKED: Final = b"GET / HTTP/1.1\r\nHost: growth\r\n\r\n"


async def hello(request: web.BaseRequest) -> web.Response:
    return web.Response(text=str(request.remote))


@asynccontextmanager
async def port(
    limits: ConnectionLimits, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Place]:
    everywhere = Address(host="0.0.0.0", port=0)
    with listen(everywhere, setting="--test", limits=limits) as listening:
        async with web_server(hello) as server, accepting(server, listening, tls=tls):
            yield "127.0.0.1", listening.getsockname()[1]


@asynccontextmanager
async def connected(place: Place, *, by: str = "127.0.0.1") -> AsyncIterator[bool]:
    """A connection, and whether it is answered."""
    reader, writer = await asyncio.open_connection(*place, local_addr=(by, 0))
    try:
        yield await is_answered(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def is_answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    try:
        writer.write(ASKED)
        async with asyncio.timeout(10):
            return (await reader.readline()).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False


async def test_connections_beyond_the_limit_are_closed_until_others_have_left() -> None:
    async with port(ConnectionLimits(total=2, each=2)) as place, AsyncExitStack() as kept:
        assert await kept.enter_async_context(connected(place))
        async with connected(place) as second:
            assert second
            for _ in range(50):
                async with connected(place) as third:
                    assert not third

        async with asyncio.timeout(10):
            # The server hears of the end a moment after the client.
            while not await is_let_in(place):
                pass


async def is_let_in(place: Place) -> bool:
    async with connected(place) as is_in:
        return is_in


async def test_one_address_can_not_keep_the_others_out() -> None:
    async with port(ConnectionLimits(total=4, each=2)) as place, AsyncExitStack() as kept:
        from_one = [await kept.enter_async_context(connected(place)) for _ in range(4)]
        from_another = await kept.enter_async_context(connected(place, by="127.0.0.2"))

    assert from_one == [True, True, False, False]
    assert from_another


async def test_a_full_port_is_shared_with_an_address_that_has_fewer_connections() -> None:
    async with port(ConnectionLimits(total=4, each=4)) as place:
        reader, writer = await asyncio.open_connection(*place, local_addr=("127.0.0.1", 0))
        assert await is_answered(reader, writer)
        async with AsyncExitStack() as kept:
            others = [await kept.enter_async_context(connected(place)) for _ in range(3)]
            late = [
                await kept.enter_async_context(connected(place, by="127.0.0.2")) for _ in range(3)
            ]
            async with asyncio.timeout(10):
                # The rest of the first answer, and the end.
                await reader.read()
        writer.close()

    assert others == [True] * 3
    assert late == [True, True, False], "each address has half of the port, and no more"


async def test_that_a_port_is_full_is_told_once_a_minute_and_not_for_each_connection() -> None:
    async with port(ConnectionLimits(total=0, each=0)) as place:
        with capture_logs() as said:
            for _ in range(3):
                assert not await is_let_in(place)

    [line] = said
    assert (line["log_level"], line["by"], line["port"]) == ("warning", "127.0.0.1", place[1])


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    Authority().leaf().write_to(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    return context


async def test_who_never_ends_its_handshake_makes_room_for_others(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HANDSHAKE", 0.05)
    async with port(ConnectionLimits(total=1, each=1), tls=tls) as place:
        reader, writer = await asyncio.open_connection(*place)
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()
        await asyncio.sleep(0)
        _, another = await asyncio.open_connection(*place, ssl=trusting())
        another.close()


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
