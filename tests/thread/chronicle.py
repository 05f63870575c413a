"""Everything that happens to pods, nodes, requests and removals, as the API server tells it.

One watch a kind, read as it comes and kept whole. Versions of all kinds come from one store, so
together they tell in which order things have happened, however late any of them was heard of.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from growth.errors import RetryLater
from growth.kube.errors import Unreachable
from tests.thread.thirty import NODES, REMOVALS, REQUESTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.kube.transport import Connection

KINDS: Final = {
    "pod": "/api/v1/pods",
    "node": NODES,
    "request": REQUESTS,
    "removal": REMOVALS,
}


class Told(NamedTuple):
    """One event."""

    version: int
    at: float
    """When it was heard of, in monotonic seconds."""
    kind: str
    is_gone: bool
    found: dict[str, Any]
    """The object after it, or its last state."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Which object."""
        metadata = self.found["metadata"]
        return self.kind, metadata.get("namespace", ""), metadata["name"]


class Chronicle:
    """All events since the beginning."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._told: list[Told] = []
        self._reached = dict.fromkeys(KINDS, 0)

    @property
    def told(self) -> list[Told]:
        """In the order in which it happened."""
        return sorted(self._told, key=lambda told: told.version)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Written until the end of the block."""
        for kind in KINDS:
            await self._begin(kind)
        tasks = [asyncio.create_task(self._follow(kind)) for kind in KINDS]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            assert isinstance(end, asyncio.CancelledError), f"a watch has ended: {end!r}"

    async def catch_up(self) -> None:
        """Until everything that has happened so far is told, also where watches are silent."""
        for kind in KINDS:
            await self._watch(kind, timeoutSeconds="1")

    async def _begin(self, kind: str) -> None:
        listed = await self._listed(KINDS[kind])
        for found in listed["items"]:
            self._note(kind, found, is_gone=False)
        self._reached[kind] = int(listed["metadata"]["resourceVersion"])

    async def _listed(self, path: str) -> Any:
        while True:
            # Right after the definitions have been made, their store is not always ready.
            with suppress(RetryLater):
                return (await self._connection.request("GET", path)).json()
            await asyncio.sleep(0.1)

    async def _follow(self, kind: str) -> None:
        while True:
            # A watch that ends goes on from where it was, so nothing is missed.
            with suppress(Unreachable):
                await self._watch(kind)
            await asyncio.sleep(0.1)

    async def _watch(self, kind: str, **more: str) -> None:
        query = {"watch": "true", "resourceVersion": str(self._reached[kind]), **more}
        async with self._connection.stream(KINDS[kind], query=query) as answer:
            async for line in answer.content:
                self._hear(kind, msgspec.json.decode(line))

    def _hear(self, kind: str, event: dict[str, Any]) -> None:
        found = event["object"]
        assert event["type"] != "ERROR", found
        version = int(found["metadata"]["resourceVersion"])
        if version > self._reached[kind]:
            self._note(kind, found, is_gone=event["type"] == "DELETED")
            self._reached[kind] = version

    def _note(self, kind: str, found: dict[str, Any], *, is_gone: bool) -> None:
        version = int(found["metadata"]["resourceVersion"])
        self._told.append(Told(version, monotonic(), kind, is_gone, found))
