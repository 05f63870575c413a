"""A few questions that the process asks itself, so that the scheduler's first isn't a slow one.

The first request through aiohttp takes several times as long as the hundredth. They come in by the
door that the scheduler uses, and name no pod, so nothing is concluded from them.
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
    """Ask both verbs. Where there is no certificate to answer with yet, the first is a cold one."""
    with suppress(aiohttp.ClientError):
        # It is our own port: there is nobody whose certificate would have to be looked at.
        connector = aiohttp.TCPConnector(ssl=False)
        async with aiohttp.ClientSession(connector=connector) as session:
            for _ in range(TIMES):
                for verb in ("filter", "prioritize"):
                    async with session.post(f"{url}/{verb}", data=_QUESTION) as answer:
                        await answer.read()
