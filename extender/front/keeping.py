"""Keeps a front running: starts it, tells it everything, and replaces it when it ends or hangs.

The sockets are opened here and stay open. So while a front is replaced, its clients wait for the
next one instead of being refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Final, NoReturn

from prometheus_client import Counter

from extender.front.messages import FrontMessage, framed
from extender.front.telling import Telling
from growth.service.settings import declared_settings

if TYPE_CHECKING:
    import socket
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Sequence

    from extender.demand import DemandFeed
    from extender.settings import ExtenderSettings
    from growth.service.context import Service

PATIENCE: Final = 10.0
"""Seconds that a front may take for one message. A probe fails for a minute before the kubelet
restarts the pod, and with it the scheduler's calls."""
START: Final = 40.0
"""Seconds for a front to start; a second is usual."""
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
"""Seconds until the next front is started, doubled each time."""
SETTLED: Final = 60.0
"""Seconds after which a front counts as good, and the pauses begin anew."""
FAREWELL: Final = 1.0
"""Seconds for a front to end when the process ends: twice as long as for its open requests."""


class FrontKeeper:
    """The front of this process."""

    def __init__(
        self,
        service: Service[ExtenderSettings],
        demand: DemandFeed,
        *,
        ports: Sequence[socket.socket],
        patience: float = PATIENCE,
    ) -> None:
        """`ports` are those of the endpoints and of the stream, in this order."""
        self._service = service
        self._demand = demand
        self._ports = ports
        self._patience = patience
        self.pid = 0
        """The process ID of the current front."""
        self._replaced = Counter(
            "growth_extender_front_replaced",
            "Number of times that the process for metrics, health and the stream was replaced",
            registry=service.registry,
        )

    async def keep(self) -> NoReturn:
        """Have a front until cancelled."""
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        while True:
            began = loop.time()
            reason = await self._have_one()
            if loop.time() - began > SETTLED:
                pause = FIRST_PAUSE
            self._replaced.inc()
            self._service.logger.warning("the front is replaced", reason=reason, pause=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _have_one(self) -> str:
        """Start a front and tell it everything; returns why it can't go on."""
        try:
            async with self._started() as front:
                await _until_it_reads(front)
                await self._tell(front)
        except TimeoutError:
            return "it reads nothing"
        except OSError as error:
            return str(error) or "it has ended"

    async def _tell(self, front: Process) -> NoReturn:
        pipe = front.stdin
        assert pipe is not None  # noqa: S101 - tells mypy what PIPE means
        # So that `drain` returns only when the pipe has taken everything.
        pipe.transport.set_write_buffer_limits(high=0)

        async def write(message: FrontMessage) -> None:
            pipe.write(framed(message))
            async with asyncio.timeout(self._patience):
                await pipe.drain()

        await Telling(self._service, self._demand, write=write).tell()

    @contextlib.asynccontextmanager
    async def _started(self) -> AsyncIterator[Process]:
        front = await asyncio.create_subprocess_exec(
            # -P, or a folder of this name in the working directory would be run instead.
            *(sys.executable, "-P", "-m", "extender.front"),
            *(str(port.fileno()) for port in self._ports),
            *_flags(self._service.settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=[port.fileno() for port in self._ports],
        )
        self.pid = front.pid
        try:
            yield front
        except asyncio.CancelledError:
            await _end(front)
            raise
        finally:
            with contextlib.suppress(ProcessLookupError):
                front.kill()
            await front.wait()


async def _until_it_reads(front: Process) -> None:
    """Wait for the one byte that a front writes. Before it, a large book would fill the pipe."""
    assert front.stdout is not None  # noqa: S101 - tells mypy what PIPE means
    async with asyncio.timeout(START):
        if not await front.stdout.read(1):
            raise ConnectionError("it has ended while it started")


async def _end(front: Process) -> None:
    """Let it answer open requests: it ends when its pipe does."""
    if front.stdin is not None:
        front.stdin.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FAREWELL):
            await front.wait()


def _flags(settings: ExtenderSettings) -> list[str]:
    values = {one.flag: getattr(settings, one.field) for one in declared_settings(type(settings))}
    return [f"{flag}={value}" for flag, value in values.items() if value is not None]
