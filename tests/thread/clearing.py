"""Takes a story's objects out of the cluster, whoever holds them, so that it can be told anew."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

from growth.errors import RetryLater
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import NotFound
from tests.thread.thirty import (
    CLASSES,
    NODES,
    OURS,
    PODS,
    POOLS,
    RECORDS,
    REMOVALS,
    REPLICA_SETS,
    REQUESTS,
    items,
)

if TYPE_CHECKING:
    from growth.kube.transport import Connection

KINDS: Final = (POOLS, CLASSES, RECORDS, REQUESTS, REMOVALS)
"""Of growth."""
NOW: Final = {"gracePeriodSeconds": 0}
WITHIN: Final = 180.0


async def cleared(connection: Connection) -> None:
    """Until nothing of the story is left: a process that still works on it may add to it."""
    began = monotonic()
    while not await _is_cleared(connection):
        assert monotonic() - began < WITHIN, "something of the story is still there"
        await asyncio.sleep(0.05)


async def _is_cleared(connection: Connection) -> bool:
    """After another try. A busy API server may be late with a list or with a whole kind's end."""
    try:
        if not await _are_there(connection):
            return True
        await _delete(connection)
    except RetryLater:
        pass
    return False


async def _delete(connection: Connection) -> None:
    await connection.request("DELETE", REPLICA_SETS, body={"propagationPolicy": "Background"})
    await connection.request("DELETE", PODS, body=NOW)
    for path in KINDS:
        await _free(connection, path)
    await connection.request("DELETE", NODES, query=OURS, body=NOW)


async def _are_there(connection: Connection) -> bool:
    left = [await items(connection, path) for path in (PODS, *KINDS)]
    return any(left) or bool(await items(connection, NODES, OURS))


async def _free(connection: Connection, path: str) -> None:
    """Delete all of a kind, and take the place of who had to let them go."""
    await connection.request("DELETE", path, body={})
    for each in await items(connection, path):
        body = {"metadata": {"finalizers": None}}
        with suppress(NotFound):
            place = f"{path}/{each['metadata']['name']}"
            await connection.request("PATCH", place, body=body, content_type=MERGE_PATCH)
