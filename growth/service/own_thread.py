"""Runs a server in an event loop and thread of its own.

A server that anyone in the network can reach must not keep the rest of the process from its work.
In a loop of its own, its connections and requests never stand before the work of the main loop; the
two threads only compete for the interpreter, which each of them releases at every read and write.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager


@contextlib.asynccontextmanager
async def in_own_thread(
    name: str, serving: Callable[[], AbstractAsyncContextManager[None]]
) -> AsyncIterator[None]:
    """Enter a context in the event loop of a new thread, and leave it there at the end."""
    begun: Future[Callable[[], None]] = Future()
    ended: Future[None] = Future()

    def run() -> None:
        try:
            asyncio.run(_serve(serving, begun))
        except BaseException as error:  # noqa: BLE001 - it is raised where the thread is awaited
            (ended if begun.done() else begun).set_exception(error)
        else:
            ended.set_result(None)

    threading.Thread(target=run, name=name, daemon=True).start()
    stop = await asyncio.wrap_future(begun)
    try:
        yield
    finally:
        stop()
        await asyncio.wrap_future(ended)


async def _serve(
    serving: Callable[[], AbstractAsyncContextManager[None]], begun: Future[Callable[[], None]]
) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        loop.call_soon_threadsafe(stopped.set)

    async with serving():
        begun.set_result(stop)
        await stopped.wait()
