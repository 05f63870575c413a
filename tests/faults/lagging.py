"""A second API server on the same store, whose way to the store can be blocked.

So it lags behind the first one as a server does that has lost the store's leader: it goes on
answering from its memory, and nothing in its answers says that they are old.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kwok.processes import processes_in
from tests.faults.control_plane import API_SERVER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.live import LiveCluster


class StoreLine:
    """Passes bytes to the store and back, until it is blocked."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open = asyncio.Event()
        self._open.set()

    def block(self) -> None:
        self._open.clear()

    def unblock(self) -> None:
        self._open.set()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_store, to_store = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pass_on(reader, to_store))
                tasks.create_task(self._pass_on(from_store, writer))
        finally:
            # Also when the line ends while it is blocked.
            to_store.close()
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while piece := await reader.read(65536):
                await self._open.wait()
                writer.write(piece)
                await writer.drain()
        writer.close()


@dataclass(frozen=True)
class LaggingServer:
    """The second one."""

    server: str
    line: StoreLine


@asynccontextmanager
async def lagging_api_server(cluster: LiveCluster) -> AsyncIterator[LaggingServer]:
    """Starts it, and ends it with the block."""
    folder = cluster.kubeconfig.parent
    [first] = await asyncio.to_thread(processes_in, folder, {API_SERVER})
    command = (await asyncio.to_thread(Path(f"/proc/{first.pid}/cmdline").read_bytes)).split(b"\0")
    options = dict(word.decode().partition("=")[::2] for word in command[1:-1])
    line = StoreLine(int(options["--etcd-servers"].rsplit(":", 1)[-1]))
    async with await asyncio.start_server(line.connect, "127.0.0.1", 0) as listening:
        store_port = listening.sockets[0].getsockname()[1]
        port = _free_port()
        options |= {
            "--etcd-servers": f"http://127.0.0.1:{store_port}",
            "--secure-port": str(port),
        }
        words = [f"{name}={value}" for name, value in options.items()]
        process = await asyncio.create_subprocess_exec(
            command[0].decode(),
            *words,
            cwd=folder,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            yield LaggingServer(f"https://127.0.0.1:{port}", line)
        finally:
            process.kill()
            await process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
