"""The cost of one watch event from its bytes to the indexed object, without network and server."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from benchmarks.cache_clients import PODS
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.reflector import Reflector

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.kube.call import Query
    from growth.kube.transport import Response

END = {"metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}


class Recorded:
    """A watch whose lines have all arrived already, in pieces as from a network."""

    PIECE = 65_536

    def __init__(self, lines: list[bytes]) -> None:
        self._text = b"".join(lines)
        self._sent = 0
        self.began = self.cpu = 0.0

    @property
    def content(self) -> Recorded:
        """The response is its own body."""
        return self

    async def request(self, method: str, path: str, **_: Any) -> Response:
        """Only the watch is requested."""
        raise NotImplementedError(f"{method} {path}")

    @asynccontextmanager
    async def stream(self, path: str, *, query: Query, **_: Any) -> AsyncIterator[Recorded]:
        """The watch."""
        del path, query
        yield self

    async def readany(self) -> bytes:
        """The next piece; nothing follows the last one."""
        if not self._sent:
            self.began = time.process_time()
        elif self._sent >= len(self._text):
            self.cpu = time.process_time() - self.began
            await asyncio.Event().wait()
        piece = self._text[self._sent : self._sent + self.PIECE]
        self._sent += self.PIECE
        return piece


async def seconds_for_one(pods: list[dict[str, Any]]) -> float:
    """CPU seconds per event: each pod is added and then modified."""
    lines = [_line("BOOKMARK", END)]
    version = 1
    for kind in ("ADDED", "MODIFIED"):
        for pod in pods:
            version += 1
            pod["metadata"]["resourceVersion"] = str(version)
            lines.append(_line(kind, pod))
    recorded = Recorded(lines)
    cache = Reflector(
        server=recorded,
        resource=PODS,
        metrics=CacheMetrics(CollectorRegistry()),
        chance=Random(1),
    )
    running = asyncio.create_task(cache.run())
    while not recorded.cpu:  # noqa: ASYNC110 - the end of the text is no event of the cache
        await asyncio.sleep(0)
    running.cancel()
    return recorded.cpu / (len(lines) - 1)


def _line(kind: str, thing: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": thing}, separators=(",", ":")).encode() + b"\n"
