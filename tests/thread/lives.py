"""The reconciler as a process that is held at each of its points, and killed at some of them.

The process tells each point and waits; so what it is killed at is exact. Every life is a process of
its own, forked from one that has everything imported already: so a trial costs what the restart
costs, and not Python's start.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.effects.announcing import VARIABLE
from reconciler.effects.points import Names, Point
from tests.live import IN_TIME
from tests.thread.growing import QUICKLY

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Awaitable, Iterable
    from pathlib import Path

MOTHER: Final = """
import os, signal, sys
from reconciler.__main__ import main
import reconciler.providers.kwok.provider
{planted}
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        sys.exit(main())
    print(child, flush=True)
"""


class Lives:
    """One process after the other."""

    def __init__(
        self, kubeconfig: Path, *, folder: Path, planted: str = "", **settings: str
    ) -> None:
        self._planted = planted
        """A mistake, as statements that put it into the process before it begins."""
        self._settings = {**QUICKLY, **settings}
        self.log = folder / "reconciler.log"
        self.points: list[str] = []
        """What was announced since the story began, in all lives."""
        self._kubeconfig = kubeconfig
        self._socket = folder / "points"
        self._names = Names()
        self._ends: set[str] = set()
        self._held = asyncio.Event()
        self._released = asyncio.Event()
        self._mother: Process | None = None
        self._now = 0

    def tell_anew(self, *, ends: Iterable[str] = ()) -> None:
        """A new story begins, in which a process is to be killed at each of these points."""
        self.points = []
        self._names = Names()
        self._ends = set(ends)

    async def start(self) -> None:
        """The next process."""
        assert self._mother is not None
        assert self._mother.stdin is not None
        assert self._mother.stdout is not None
        self._mother.stdin.write(b"one more\n")
        self._now = int(await self._mother.stdout.readline())

    async def die_until(self, settled: Awaitable[None]) -> frozenset[str]:
        """Killed at each point that is reached, and started again; the answer is what was not.

        A process that is killed can take the end of an effect with it that was on its way.
        """
        end, missed = asyncio.ensure_future(settled), frozenset[str]()
        while not end.done() or self._held.is_set():
            held = asyncio.create_task(self._held.wait())
            await asyncio.wait({held, end}, return_when=asyncio.FIRST_COMPLETED)
            held.cancel()
            if end.done():
                missed, self._ends = frozenset(self._ends), set()
            if self._held.is_set():
                self._held.clear()
                await self.kill()
                await self.start()
        await end
        return missed

    async def leads(self, *, times: int = 1) -> None:
        """Until it has said so, so many times."""
        await self._says('"message": "leading"', times=times)

    async def leads_no_longer(self) -> None:
        """Until it has noticed."""
        await self._says('"message": "no longer leading"')

    async def _says(self, words: str, *, times: int = 1) -> None:
        began = monotonic()
        while (await asyncio.to_thread(self.log.read_text)).count(words) < times:
            assert monotonic() - began < IN_TIME, f"it never said {words}"
            await asyncio.sleep(0.05)

    async def freeze(self) -> None:
        """SIGSTOP, when the process has come to the point at which it is held."""
        await asyncio.wait_for(self._held.wait(), IN_TIME)
        self._held.clear()
        os.kill(self._now, signal.SIGSTOP)
        self._released.set()

    def thaw(self) -> None:
        """It goes on from there, and knows nothing."""
        os.kill(self._now, signal.SIGCONT)

    async def kill(self) -> None:
        """SIGKILL."""
        os.kill(self._now, signal.SIGKILL)
        self._released.set()
        with suppress(ProcessLookupError):
            while True:
                os.kill(self._now, 0)
                await asyncio.sleep(0.005)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """The first process runs, and the last one ends with the block."""
        async with await asyncio.start_unix_server(self._listen, self._socket):
            self._mother = await self._made()
            await self.start()
            try:
                yield
            finally:
                await self._end()
                self._mother.kill()
                await self._mother.wait()

    async def _end(self) -> None:
        """In order, so that the Lease is given back; a process that can't is killed."""
        self._ends = set()
        self._released.set()
        with suppress(ProcessLookupError):
            os.kill(self._now, signal.SIGCONT)
            os.kill(self._now, signal.SIGTERM)
            for _ in range(400):
                os.kill(self._now, 0)
                await asyncio.sleep(0.02)
            await self.kill()

    async def _made(self) -> Process:
        words = ["--kubeconfig", str(self._kubeconfig), "--metrics-address", "127.0.0.1:0"]
        with self.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                *("-c", MOTHER.replace("{planted}", self._planted), *words),
                env={**os.environ, **self._settings, VARIABLE: str(self._socket)},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while line := await reader.readline():
                if self._hear(msgspec.json.decode(line, type=Point)):
                    await self._released.wait()
                writer.write(b".")
        writer.close()

    def _hear(self, point: Point) -> bool:
        """Whether the process is to be held here."""
        name = self._names.of(point)
        self.points.append(name)
        if name not in self._ends:
            return False
        self._ends.discard(name)
        self._released.clear()
        self._held.set()
        return True
