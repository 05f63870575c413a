"""Nothing stays open: what we give up is closed, even when the server doesn't answer any more.

With the real API server, as it is TLS whose goodbye waits for an answer.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import yaml

from growth.kube.errors import Unreachable
from growth.kube.transport import Connection, connect
from tests.kube.wire import Wire, wire_to

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

PODS = "/api/v1/pods"
WATCH = {"watch": "true"}


@pytest.fixture
async def wired(cluster: LiveCluster, tmp_path: Path) -> AsyncIterator[tuple[Connection, Wire]]:
    """A connection to the API server, and the wire that it goes over."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    to = config["clusters"][0]["cluster"]
    folder = cluster.kubeconfig.parent
    for section in (to, config["users"][0]["user"]):
        for name in ("certificate-authority", "client-certificate", "client-key"):
            if name in section:
                section[name] = str(folder / section[name])
    async with wire_to(urlsplit(to["server"]).port or 443) as (wire, port):
        to["server"] = f"https://127.0.0.1:{port}"
        (tmp_path / "config").write_text(yaml.safe_dump(config))
        async with await connect(kubeconfig=tmp_path / "config", process="test") as connection:
            yield connection, wire


async def comes_true(done: Callable[[], bool]) -> None:
    """Far sooner than TLS would wait for the other side's goodbye."""
    async with asyncio.timeout(10):
        while not done():  # noqa: ASYNC110 - what it waits for has no event
            await asyncio.sleep(0.01)


@asynccontextmanager
async def watching(
    connection: Connection, *, silence: float = 60
) -> AsyncIterator[asyncio.Task[None]]:
    """Somebody who reads a watch to its end, which doesn't come."""
    began = asyncio.Event()

    async def read() -> None:
        async with connection.stream(PODS, query=WATCH, silence=silence) as response:
            began.set()
            await response.content.read()

    reading = asyncio.create_task(read())
    await began.wait()
    yield reading
    reading.cancel()
    await asyncio.wait([reading])


@pytest.mark.parametrize("fault", [lambda _: None, Wire.die], ids=["well", "dead"])
async def test_a_cancelled_watch_leaves_no_connection(
    wired: tuple[Connection, Wire], fault: Callable[[Wire], None]
) -> None:
    connection, wire = wired
    async with watching(connection) as reading:
        assert wire.callers == 1
        fault(wire)
        reading.cancel()

        await comes_true(lambda: wire.callers == 0)


async def test_a_watch_that_fell_silent_leaves_no_connection(
    wired: tuple[Connection, Wire],
) -> None:
    connection, wire = wired
    async with watching(connection, silence=0.2) as reading:
        wire.die()
        with pytest.raises(Unreachable):
            await reading

        await comes_true(lambda: wire.callers == 0)


async def test_a_watch_that_was_cut_leaves_no_connection(wired: tuple[Connection, Wire]) -> None:
    connection, wire = wired
    async with watching(connection) as reading:
        wire.cut()
        with pytest.raises(Unreachable):
            await reading

        await comes_true(lambda: wire.callers == 0)


async def test_a_request_that_was_given_up_leaves_no_connection(
    wired: tuple[Connection, Wire],
) -> None:
    connection, wire = wired
    await connection.request("GET", PODS)
    wire.die()

    with pytest.raises(Unreachable, match="no answer within"):
        await connection.request("GET", PODS, timeout=0.2)

    await comes_true(lambda: wire.callers == 0)


async def test_a_connection_that_answered_is_kept_for_the_next_request(
    wired: tuple[Connection, Wire],
) -> None:
    connection, wire = wired
    for _ in range(3):
        await connection.request("GET", PODS)

    assert wire.callers == 1


async def test_a_connection_that_is_closed_leaves_nothing_open(
    wired: tuple[Connection, Wire],
) -> None:
    connection, wire = wired
    async with watching(connection):
        await connection.request("GET", PODS)
        wire.die()
        await connection.__aexit__(None, None, None)

        await comes_true(lambda: wire.callers == 0)
