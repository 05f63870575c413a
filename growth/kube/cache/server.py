"""What a cache needs from a connection, so that it can be tested with an in-memory API server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

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
