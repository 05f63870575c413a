"""When each thing happened to pods, requests, nodes and removals, according to watches of our own.

The times are those at which the API server reports, on one clock, so the time between two of them
is the system's and not the reader's.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

import msgspec

from growth.errors import GiveUp
from growth.kube.cache.watch_events import Lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from aiohttp import ClientResponse

    from growth.kube.transport import Connection

PATHS: Final = {
    "pod": "/api/v1/pods",
    "node": "/api/v1/nodes",
    "request": "/apis/growth.dev/v1alpha1/noderequests",
    "removal": "/apis/growth.dev/v1alpha1/noderemovalrequests",
}
UNREGISTERED: Final = "growth.dev/unregistered"
MARKED: Final = "growth.dev/scale-down"
EVICTED: Final = "EvictionByEvictionAPI"
_PATIENCE: Final = 600.0


class Life(msgspec.Struct):
    """One object: its latest state, and when each thing first happened to it."""

    newest: dict[str, Any]
    moments: dict[str, float] = {}
    is_gone: bool = False


class Lives:
    """All objects that have appeared since the watches began."""

    def __init__(self) -> None:
        self._lives: defaultdict[str, dict[str, Life]] = defaultdict(dict)
        self._changed = asyncio.Event()

    def of(self, kind: str) -> dict[str, Life]:
        """All objects of a kind, by name."""
        return self._lives[kind]

    def moments(self, kind: str, moment: str) -> dict[str, float]:
        """When this happened, by the name of the object."""
        return {
            name: life.moments[moment]
            for name, life in self._lives[kind].items()
            if moment in life.moments
        }

    async def until(self, done: Callable[[], bool], goal: str, *, within: float) -> None:
        """Wait until something has happened."""
        try:
            async with asyncio.timeout(within):
                while not done():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise GiveUp(f"{goal}: not within {within:.0f} s") from None

    def take(self, kind: str, event: str, state: dict[str, Any]) -> None:
        """One line of a watch."""
        now, name = time.time(), state["metadata"]["name"]
        life = self._lives[kind].setdefault(name, Life(state))
        life.newest, life.is_gone = state, event == "DELETED"
        for moment in _TOLD[kind](state):
            life.moments.setdefault(moment, now)
        if life.is_gone:
            life.moments["gone"] = now
        self._changed.set()


@asynccontextmanager
async def watched(connection: Connection, *kinds: str) -> AsyncIterator[Lives]:
    """Objects of all kinds, or of these, from now on; existing ones don't count."""
    lives = Lives()
    async with asyncio.TaskGroup() as tasks:
        starts = {kind: asyncio.Event() for kind in kinds or PATHS}
        following = [
            tasks.create_task(_follow(connection, kind, PATHS[kind], lives, started))
            for kind, started in starts.items()
        ]
        for started in starts.values():
            await started.wait()
        yield lives
        for task in following:
            task.cancel()


async def _follow(
    connection: Connection, kind: str, path: str, lives: Lives, started: asyncio.Event
) -> NoReturn:
    """Watch from now on; if a busy server ends the watch, it continues from there."""
    listed = (await connection.request("GET", path, query={"limit": "1"})).json()
    version = listed["metadata"]["resourceVersion"]
    while True:
        query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
        async with connection.stream(path, query=query, silence=_PATIENCE) as response:
            started.set()
            async for event in _events(response):
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    lives.take(kind, event["type"], event["object"])


async def _events(response: ClientResponse) -> AsyncIterator[dict[str, Any]]:
    lines = Lines()
    async for chunk in response.content.iter_any():
        for line in lines.feed(chunk):
            event = msgspec.json.decode(line)
            if event["type"] == "ERROR":
                raise GiveUp(f"a watch of the benchmark failed: {event['object']['message']}")
            yield event


def _of_pod(pod: dict[str, Any]) -> Iterator[str]:
    yield "created"
    if "nodeName" in pod["spec"]:
        yield "bound"
    for condition in pod["status"].get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield "judged"
        if condition["type"] == "DisruptionTarget" and condition.get("reason") == EVICTED:
            yield "evicted"


def _of_node(node: dict[str, Any]) -> Iterator[str]:
    yield "created"
    conditions = node["status"].get("conditions", ())
    keys = {taint["key"] for taint in node["spec"].get("taints", ())}
    if MARKED in keys:
        yield "marked"
    if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
        yield "ready"
        if UNREGISTERED not in keys:
            yield "released"
        if not keys:
            yield "serves"


def _of_phase(each: dict[str, Any]) -> Iterator[str]:
    yield "created"
    yield each.get("status", {}).get("phase", "")


_TOLD: Final[dict[str, Callable[[dict[str, Any]], Iterator[str]]]] = {
    "pod": _of_pod,
    "node": _of_node,
    "request": _of_phase,
    "removal": _of_phase,
}
