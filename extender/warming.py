"""Sends a few calls to this process itself, so that the scheduler's first call isn't slow.

The first request through aiohttp takes several times as long as the hundredth. The calls use the
same port as the scheduler. They name no pod, so they have no effect on the demand.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final

import aiohttp

TIMES: Final = 20
_QUESTION: Final = json.dumps(
    {"Pod": {}, "Nodes": None, "NodeNames": [f"node-{number}" for number in range(100)]}
).encode()


async def warm(url: str) -> None:
    """Call both verbs. Without a certificate they fail, and the first real call is slow."""
    with suppress(aiohttp.ClientError):
        # This is our own port, so its certificate doesn't have to be verified.
        connector = aiohttp.TCPConnector(ssl=False)
        async with aiohttp.ClientSession(connector=connector) as session:
            for _ in range(TIMES):
                for verb in ("filter", "prioritize"):
                    async with session.post(f"{url}/{verb}", data=_QUESTION) as answer:
                        await answer.read()
