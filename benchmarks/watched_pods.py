"""A plain watch of one namespace's pods: each event with the time at which its bytes arrived."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling.objects import Pod

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from growth.kube.transport import Connection

SILENCE: Final = 120.0


class _Event(msgspec.Struct, gc=False):
    object: Pod


_event = msgspec.json.Decoder(_Event).decode


async def pod_events(
    connection: Connection, namespace: str, *, watching: Callable[[], None]
) -> AsyncIterator[tuple[float, Pod]]:
    """All events from now on. `watching` is called once nothing can be missed."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    page = (await connection.request("GET", path, query={"limit": "1"}, timeout=60)).json()
    version: str = page["metadata"]["resourceVersion"]
    while True:
        # A busy server ends watches; the next one continues where this one was.
        query = {"watch": "true", "resourceVersion": version}
        async with connection.stream(path, query=query, timeout=60, silence=SILENCE) as response:
            watching()
            while line := await response.content.readline():
                now = time.perf_counter()
                pod = _event(line).object
                version = pod.metadata.resource_version or version
                yield now, pod
