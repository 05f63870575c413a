"""Runs the parts of a process: either all of them run, or the process ends.

One TaskGroup owns them. If a part crashes, the others end too, because a process without one of its
parts looks alive but does only half of its work; Kubernetes then restarts it. For the same reason,
it is an error if a part returns, or is cancelled by other code.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import TYPE_CHECKING

from growth.errors import Misconfigured
from growth.service.endpoints import serve_endpoints
from growth.service.event_loop import watch_event_loop
from growth.service.web_server import place_of

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from growth.service.context import Part, Parts, Service
    from growth.service.endpoints import Endpoints
    from growth.service.settings import SettingsT

CRASHED = 1
MISCONFIGURED = 2


class PartEnded(RuntimeError):
    """A part ended, although it must run as long as the process."""


class Running:
    """The running parts of one process."""

    def __init__(
        self,
        *,
        stop: asyncio.Event,
        on_failure: Callable[[int], None],
        endpoints: Endpoints = serve_endpoints,
    ) -> None:
        self._stop = stop
        self._on_failure = on_failure
        self._endpoints = endpoints
        self._names: set[str] = set()

    @property
    def names(self) -> list[str]:
        """The parts that haven't ended. Safe in any thread."""
        return sorted(self._names.copy())

    async def run(
        self, service: Service[SettingsT], parts: Parts[SettingsT], listening: socket.socket
    ) -> None:
        """Run the parts and serve the endpoints until `stop` is set and all parts have ended."""
        # The endpoints close last, so that the shutdown can be observed.
        async with contextlib.AsyncExitStack() as to_the_end, asyncio.TaskGroup() as group:
            watching = group.create_task(watch_event_loop(service), name="event loop")
            tasks = [
                group.create_task(self._guarded(name, part, service), name=name)
                for name, part in parts.items()
            ]
            # Each part runs up to its first await, and so registers its checks, before the loop
            # accepts the first connection.
            await to_the_end.enter_async_context(self._endpoints(service, listening))
            address = place_of(listening)
            service.logger.info("started", metrics_address=address, parts=self.names)
            await self._stop.wait()
            service.logger.info("ending", parts=self.names)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            watching.cancel()

    async def _guarded(self, name: str, part: Part[SettingsT], service: Service[SettingsT]) -> None:
        self._names.add(name)
        try:
            await _for_ever(part, service)
        except Exception as error:  # noqa: BLE001 - any error ends the process
            mistakes = _mistakes(error)
            # The shutdown starts first, because it has a time limit; the log may block.
            self._on_failure(MISCONFIGURED if mistakes else CRASHED)
            self._stop.set()
            _tell(error, mistakes, logger=service.logger.bind(part=name))
        finally:
            self._names.discard(name)


def _tell(error: Exception, mistakes: list[Misconfigured], *, logger: FilteringBoundLogger) -> None:
    """Log configuration mistakes without a stack trace; everything else is a bug and has one."""
    for mistake in mistakes:
        logger.error("misconfigured", reason=str(mistake))
    if not mistakes:
        logger.error("part crashed", exc_info=error)


def _mistakes(error: Exception) -> list[Misconfigured]:
    """The configuration mistakes in an error, if it has no other errors."""
    match error:
        case Misconfigured():
            return [error]
        case ExceptionGroup():
            each = [_mistakes(inner) for inner in error.exceptions]
            return list(itertools.chain.from_iterable(each)) if all(each) else []
        case _:
            return []


async def _for_ever(part: Part[SettingsT], service: Service[SettingsT]) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - tells mypy what a coroutine knows
    try:
        await part(service)
    except asyncio.CancelledError:
        if task.cancelling():
            raise
    if not task.cancelling():
        raise PartEnded("a part must run until it is cancelled, but this one ended")
