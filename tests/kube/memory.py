"""An API server for one kind, in memory: what the cache is compared with, on the loop's own clock.

It follows the real one in what a cache depends on: versions, watches that begin with all objects,
bookmarks each minute, pages, compaction, an answer that waits for a version and then refuses. On
demand it does what real ones do on bad days.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from growth.kube.cache.resource import Index, Key, WatchedResource
from growth.kube.call import pairs
from growth.kube.errors import ApiError, Expired, Overloaded, Refused, Unreachable
from growth.kube.transport import Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from random import Random

    from growth.kube.call import Query

ROUNDING = 1e-5
"""The virtual clock is rounded: a timer may fire a moment before its time."""

PATH = "/api/v1/namespaces/shop/things"


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str
    namespace: str
    uid: str
    resource_version: str


class Thing(msgspec.Struct, frozen=True, gc=False):
    metadata: Metadata
    colour: str


BY_COLOUR: Index[Thing] = Index("colour", lambda thing: (thing.colour,))
THINGS = WatchedResource(path=PATH, decode=msgspec.json.Decoder(Thing).decode, indexes=(BY_COLOUR,))


@dataclass(frozen=True)
class Past:
    """One event that the server remembers."""

    revision: int
    type: str
    thing: dict[str, Any]

    @property
    def line(self) -> bytes:
        # As the API server writes it, and as somebody on the way may have written it anew.
        separators = (",", ":") if self.revision % 2 else (", ", ": ")
        event = {"type": self.type, "object": self.thing}
        return json.dumps(event, separators=separators).encode() + b"\n"


@dataclass
class MemoryServer:
    chance: Random
    revision: int = 100
    things: dict[Key, dict[str, Any]] = field(default_factory=dict)
    history: list[Past] = field(default_factory=list)
    oldest: int = 100
    streams_lists: bool = True
    frozen: tuple[int, dict[Key, dict[str, Any]]] | None = None
    """It lost its store: it goes on serving this, and can't serve what is newest."""
    refusals: list[ApiError] = field(default_factory=list)
    streams: list[MemoryStream] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    births: int = 0

    def __post_init__(self) -> None:
        self.moved = asyncio.Event()

    # What happens to the objects.

    def put(self, name: str, colour: object = "red") -> tuple[Key, str, str]:
        """Creates or changes a thing; gives key, uid and version."""
        key = Key("shop", name)
        known = self.things.get(key)
        self.births += known is None
        uid = known["metadata"]["uid"] if known else f"uid-{self.births}"
        self._happen("MODIFIED" if known else "ADDED", key, uid=uid, colour=colour)
        return key, uid, str(self.revision)

    def delete(self, name: str) -> None:
        key = Key("shop", name)
        if known := self.things.get(key):
            self._happen("DELETED", key, uid=known["metadata"]["uid"], colour=known["colour"])

    def compact(self) -> None:
        self.oldest = self.revision
        self.history.clear()

    def backup(self) -> tuple[int, dict[Key, dict[str, Any]]]:
        return self.revision, dict(self.things)

    def restore(self, backup: tuple[int, dict[Key, dict[str, Any]]]) -> None:
        """The store is put back to an old state; all connections break."""
        self.revision, self.things = backup[0], dict(backup[1])
        self.history.clear()
        self.oldest = self.revision
        self.frozen = None
        self.cut()

    def _happen(self, kind: str, key: Key, *, uid: str, colour: object) -> None:
        self.revision += self.chance.randint(1, 3)
        thing = {
            "metadata": {
                "name": key.name,
                "namespace": key.namespace,
                "uid": uid,
                "resourceVersion": str(self.revision),
            },
            "colour": colour,
        }
        if kind == "DELETED":
            del self.things[key]
        else:
            self.things[key] = thing
        self.history.append(Past(self.revision, kind, thing))
        self.wake()

    # What happens to the connections.

    def cut(self, *, rest: bytes = b"") -> None:
        """All connections are reset, in the middle of a line if there is a rest."""
        for stream in self.streams:
            stream.rest = rest or stream.rest
            stream.is_cut = True
        self.wake()

    def end(self) -> None:
        """All watches are ended politely."""
        for stream in self.streams:
            stream.is_ended = True
        self.wake()

    def hang(self) -> None:
        """All connections stay open and carry nothing any more."""
        for stream in self.streams:
            stream.is_hung = True

    def say(self, line: bytes) -> None:
        """A line of somebody's choice on each open watch."""
        for stream in self.streams:
            stream.rest += line
        self.wake()

    def lose(self) -> None:
        """The last event never reaches anyone."""
        self.history.pop()

    def freeze(self) -> None:
        self.frozen = self.frozen or (self.revision, dict(self.things))

    def thaw(self) -> None:
        self.frozen = None
        self.wake()

    def wake(self) -> None:
        self.moved.set()
        self.moved = asyncio.Event()

    @property
    def visible(self) -> int:
        return self.frozen[0] if self.frozen else self.revision

    # What a connection asks.

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        timeout: float = 10.0,  # noqa: ASYNC109 - as the transport has it
    ) -> Response:
        asked = self._ask(query)
        assert (method, path) == ("GET", PATH)
        since = int(asked.get("resourceVersion") or 0)
        if since > self.visible:
            await asyncio.sleep(3)
            raise _too_large(since, self.visible)
        if self.frozen and not since:
            await asyncio.sleep(timeout)
            raise Unreachable("no answer in time")
        revision, offset = map(int, (asked.get("continue") or f"{self.revision}:0").split(":"))
        if revision < self.oldest:
            error = Expired("the token is too old")
            raise error
        things = sorted(self._as_of(revision).values(), key=lambda thing: thing["metadata"]["name"])
        end = offset + int(asked.get("limit") or len(things) or 1)
        metadata = {"resourceVersion": str(revision)}
        if end < len(things):
            metadata["continue"] = f"{revision}:{end}"
        body = json.dumps({"metadata": metadata, "items": things[offset:end]}).encode()
        return Response(status=200, headers={}, body=body)

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        *,
        query: Query,
        timeout: float = 10.0,  # noqa: ASYNC109 - as the transport has it
        silence: float = 60.0,
    ) -> AsyncIterator[MemoryStream]:
        asked = self._ask(query)
        assert path == PATH
        stream = MemoryStream(self, silence=silence, life=float(asked["timeoutSeconds"]))
        since = int(asked.get("resourceVersion") or 0)
        if "sendInitialEvents" in asked:
            await self._begin(stream, since=since, timeout=timeout)
        else:
            stream.sent = since
            if since < self.oldest:
                stream.fail(410, "Expired", "too old resource version")
        self.streams.append(stream)
        try:
            yield stream
        finally:
            self.streams.remove(stream)

    def _ask(self, query: Query) -> dict[str, str]:
        asked = dict(pairs(query))
        self.asked.append(asked)
        if self.refusals:
            raise self.refusals.pop(0)
        return asked

    async def _begin(self, stream: MemoryStream, *, since: int, timeout: float) -> None:  # noqa: ASYNC109 - same
        if not self.streams_lists:
            raise Refused("sendInitialEvents is forbidden for watch")
        if self.frozen and not since:
            await asyncio.sleep(timeout)
            raise Unreachable("no answer in time")
        if since > self.visible:
            await asyncio.sleep(3)
            stream.fail(504, "Timeout", _too_large(since, self.visible).message)
            return
        things = self.frozen[1] if self.frozen else self.things
        for thing in things.values():
            stream.rest += Past(0, "ADDED", thing).line
        stream.rest += _bookmark(self.visible, end=True)
        stream.sent = self.visible

    def _as_of(self, revision: int) -> dict[Key, dict[str, Any]]:
        """The things as they were: a page shows what the first page showed."""
        things = dict(self.things)
        for past in reversed([past for past in self.history if past.revision > revision]):
            metadata = past.thing["metadata"]
            key = Key(metadata["namespace"], metadata["name"])
            before = self._last(key, until=past.revision)
            if before is None:
                things.pop(key, None)
            else:
                things[key] = before
        return things

    def _last(self, key: Key, *, until: int) -> dict[str, Any] | None:
        for past in reversed(self.history):
            metadata = past.thing["metadata"]
            if past.revision < until and Key(metadata["namespace"], metadata["name"]) == key:
                return None if past.type == "DELETED" else past.thing
        return None


class MemoryStream:
    """One open watch, and the body of its own answer."""

    def __init__(self, server: MemoryServer, *, silence: float, life: float) -> None:
        now = asyncio.get_running_loop().time()
        self._server = server
        self._silence = silence
        self._until = now + life
        self._bookmark_at = now + 60
        self.sent = 0
        self.rest = b""
        self.is_cut = self.is_ended = self.is_hung = False

    @property
    def content(self) -> MemoryStream:
        return self

    def fail(self, code: int, reason: str, message: str) -> None:
        status = {"kind": "Status", "code": code, "reason": reason, "message": message}
        self.rest += json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"
        self.is_ended = True

    async def readany(self) -> bytes:
        silent_since = asyncio.get_running_loop().time()
        while True:
            if not self.is_hung:
                self._gather()
                if self.rest:
                    return self._piece()
                if self.is_cut:
                    raise Unreachable("connection reset")
                if self.is_ended:
                    return b""
            await self._wait(silent_since + self._silence)

    def _gather(self) -> None:
        if self.is_cut or self.is_ended:
            return
        now = asyncio.get_running_loop().time() + ROUNDING
        for past in self._server.history:
            if self.sent < past.revision <= self._server.visible:
                self.rest += past.line
                self.sent = past.revision
        if now >= self._bookmark_at:
            self._bookmark_at = now + 60
            if self._server.visible >= self.sent:
                self.rest += _bookmark(self._server.visible, end=False)
        self.is_ended = now >= self._until

    def _piece(self) -> bytes:
        cut = self._server.chance.randint(1, len(self.rest))
        piece, self.rest = self.rest[:cut], self.rest[cut:]
        return piece

    async def _wait(self, silence_ends: float) -> None:
        moved = self._server.moved
        until = min(silence_ends, self._bookmark_at, self._until)
        try:
            async with asyncio.timeout_at(silence_ends if self.is_hung else until):
                await moved.wait()
        except TimeoutError:
            if asyncio.get_running_loop().time() + ROUNDING >= silence_ends:
                raise Unreachable("no bytes for too long") from None


def _too_large(since: int, current: int) -> Overloaded:
    error = Overloaded("the server is behind")
    error.message = f"Timeout: Too large resource version: {since}, current: {current}"
    return error


def _bookmark(revision: int, *, end: bool) -> bytes:
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    if end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return json.dumps({"type": "BOOKMARK", "object": {"metadata": metadata}}).encode() + b"\n"
