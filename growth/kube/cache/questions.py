"""The requests of a cache to the API server, and what it needs from a connection for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol

from growth.kube.cache.resource import T, WatchedResource

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from random import Random

    from growth.kube.cache.timing import CacheTiming
    from growth.kube.call import Query
    from growth.kube.transport import Response


class Chunks(Protocol):
    """The body of an answer while it is being received."""

    async def readany(self) -> bytes:
        """The bytes received since the last call; empty at the end."""


class ByteStream(Protocol):
    """An answer whose body is still being received."""

    @property
    def content(self) -> Chunks:
        """Its body."""


class ApiServer(Protocol):
    """The part of `growth.kube.transport.Connection` that reads."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = ...,
        timeout: float = ...,  # noqa: ASYNC109 - as the transport has it
    ) -> Response:
        """Send a request; returns the complete answer."""

    def stream(
        self, path: str, *, query: Query, timeout: float = ..., silence: float = ...
    ) -> AbstractAsyncContextManager[ByteStream]:
        """Open a watch."""


class Questions(Generic[T]):
    """The requests for one kind."""

    def __init__(
        self,
        server: ApiServer,
        *,
        resource: WatchedResource[T],
        timing: CacheTiming,
        chance: Random,
    ) -> None:
        self._server = server
        self._resource = resource
        self._timing = timing
        self._chance = chance

    def all_and_then(self, *, not_older_than: str) -> AbstractAsyncContextManager[ByteStream]:
        """All objects as events, then an end mark, then a watch. Without a version: the newest."""
        since = {"resourceVersion": not_older_than} if not_older_than else {}
        return self._watch(
            {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", **since}
        )

    def from_version(self, version: str) -> AbstractAsyncContextManager[ByteStream]:
        """A watch of all changes since a version."""
        return self._watch({"resourceVersion": version})

    async def page(self, token: str, *, size: int | None) -> bytes:
        """One page of the newest objects; without a size, all of them at once."""
        query = {
            **self._resource.query,
            **({"limit": str(size)} if size else {}),
            **({"continue": token} if token else {}),
        }
        answer = await self._server.request(
            "GET", self._resource.path, query=query, timeout=self._timing.list_limit
        )
        return answer.body

    async def whether_it_has_reached(self, version: str) -> None:
        """Raise an error if this server is behind the version."""
        # A watch from a version that the server hasn't reached stays silent, without bookmarks, and
        # looks like one without changes. A list of one object is refused instead.
        query = {
            "limit": "1",
            "resourceVersion": version,
            "resourceVersionMatch": "NotOlderThan",
        }
        await self._server.request(
            "GET", self._resource.path, query=query, timeout=self._timing.answer
        )

    def _watch(self, query: dict[str, str]) -> AbstractAsyncContextManager[ByteStream]:
        life = self._chance.uniform(*self._timing.life)
        return self._server.stream(
            self._resource.path,
            query={
                **self._resource.query,
                "watch": "true",
                "allowWatchBookmarks": "true",
                "timeoutSeconds": str(int(life)),
                **query,
            },
            timeout=self._timing.answer,
            silence=self._timing.silence,
        )
