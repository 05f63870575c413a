"""The parts of a process side by side: all of them run, or the process ends.

One TaskGroup owns them. A part that crashes takes the others with it, because a process without
one of its parts looks alive and does half of its work; Kubernetes starts it anew. For the same
reason it is an error when a part returns, or is cancelled by anyone but us.
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
    from growth.service.settings import SettingsT

CRASHED = 1
MISCONFIGURED = 2


class PartEnded(RuntimeError):
    """A part ended by itself, though it has to run as long as the process."""


class Running:
    """The parts of one process, while they run."""

    def __init__(self, *, stop: asyncio.Event, on_failure: Callable[[int], None]) -> None:
        self._stop = stop
        self._on_failure = on_failure
        self._names: set[str] = set()

    @property
    def names(self) -> list[str]:
        """The parts that have not ended. Safe in any thread."""
        return sorted(self._names.copy())

    async def run(
        self, service: Service[SettingsT], parts: Parts[SettingsT], listening: socket.socket
    ) -> None:
        """Run the parts, and serve the endpoints, until `stop` is set and all have ended."""
        # The endpoints close last: what is ending can be watched while it does.
        async with contextlib.AsyncExitStack() as to_the_end, asyncio.TaskGroup() as group:
            watching = group.create_task(watch_event_loop(service), name="event loop")
            tasks = [
                group.create_task(self._guarded(name, part, service), name=name)
                for name, part in parts.items()
            ]
            # The parts take their first step, and register their checks, before the loop accepts
            # its first connection.
            await to_the_end.enter_async_context(serve_endpoints(service, listening))
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
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends the process
            mistakes = _mistakes(error)
            # First the end, which has its time limit, then the log, which may have to wait.
            self._on_failure(MISCONFIGURED if mistakes else CRASHED)
            self._stop.set()
            _tell(error, mistakes, logger=service.logger.bind(part=name))
        finally:
            self._names.discard(name)


def _tell(error: Exception, mistakes: list[Misconfigured], *, logger: FilteringBoundLogger) -> None:
    """A person's mistakes have no stack trace; all else is a bug of ours and has one."""
    for mistake in mistakes:
        logger.error("misconfigured", reason=str(mistake))
    if not mistakes:
        logger.error("part crashed", exc_info=error)


def _mistakes(error: Exception) -> list[Misconfigured]:
    """What a person has to mend, where that is all that is wrong."""
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
        raise PartEnded("a part has to run until it is cancelled; this one ended by itself")
