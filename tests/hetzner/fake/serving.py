"""The API on a port of its own, in a thread of its own: its clients block, so it may not wait."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.hetzner.fake.api import Account, application

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator


@contextlib.contextmanager
def serve(account: Account, *beside: Callable[[], Coroutine[Any, Any, None]]) -> Iterator[str]:
    """The API's address, for as long as the context lasts; what goes on beside it ends with it."""
    loop = asyncio.new_event_loop()
    # Calls that a test has cut short would hold a graceful end up.
    runner = web.AppRunner(application(account), shutdown_timeout=0.1)
    going_on: list[asyncio.Task[None]] = []

    async def start() -> str:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        going_on.extend(asyncio.create_task(each()) for each in beside)
        return f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    async def end() -> list[BaseException | None]:
        for each in going_on:
            each.cancel()
        await runner.cleanup()
        return await asyncio.gather(*going_on, return_exceptions=True)

    thread = threading.Thread(target=loop.run_forever, name="fake of the Hetzner API", daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    finally:
        ends = asyncio.run_coroutine_threadsafe(end(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
    for each in ends:
        if isinstance(each, Exception):
            raise each
