"""What a cache needs of a connection, so that it can be tested with an API server in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from growth.kube.call import Query
    from growth.kube.transport import Response


class Chunks(Protocol):
    """The body of an answer as it comes in."""

    async def readany(self) -> bytes:
        """What has come since; empty at the end."""


class ByteStream(Protocol):
    """An answer whose body is still coming in."""

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
        """One request and its whole answer."""

    def stream(
        self, path: str, *, query: Query, timeout: float = ..., silence: float = ...
    ) -> AbstractAsyncContextManager[ByteStream]:
        """A watch."""
