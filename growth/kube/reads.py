"""Reads objects without a cache: for commands, installation and certificates.

A missing object is an answer, not an error. Lists are read page by page, because the API server
holds each answer in memory. A busy server is asked again, for as long as the caller allows.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.errors import RetryLater
from growth.kube.cache.listing import ListPage
from growth.kube.errors import NotFound, Overloaded

if TYPE_CHECKING:
    from growth.kube.call import Query
    from growth.kube.transport import Connection, Response

Object = dict[str, Any]

PAGE: Final = 500
"""Objects in one page."""
PAUSE: Final = 0.2
"""Seconds before a server that is busy, or doesn't know a new kind yet, is asked again."""

_page = msgspec.json.Decoder(ListPage).decode


async def ask_while_busy(
    connection: Connection, method: str, path: str, *, patience: float, **words: Any
) -> Response:
    """Send a request, and repeat it while the server is busy."""
    while True:
        try:
            return await connection.request(method, path, **words)
        except Overloaded as busy:
            pause = busy.after or PAUSE
            patience -= pause
            if patience < 0:
                raise
            await asyncio.sleep(pause)


class Reads:
    """The reads of one caller."""

    def __init__(
        self, connection: Connection, *, limit: float = 10.0, patience: float = 0.0
    ) -> None:
        self.connection = connection
        self._limit = limit
        """The timeout of a request in seconds."""
        self._patience = patience
        """How many seconds to wait for a busy server."""

    async def answer(self, path: str, query: Query = ()) -> Response | None:
        """The answer of the API server; None if the path doesn't exist."""
        try:
            return await self._answer(path, dict(query))
        except NotFound:
            return None

    async def found(self, path: str) -> Object | None:
        """The object at a path, if there is one."""
        answer = await self.answer(path)
        return None if answer is None else answer.json()

    async def some(self, path: str, query: Query = (), *, most: int = PAGE) -> list[Object]:
        """The first objects of a list; empty if there is no such list."""
        answer = await self.answer(path, {**dict(query), "limit": str(most)})
        return [] if answer is None else answer.json()["items"]

    async def listed(self, path: str, query: Query = ()) -> list[Object]:
        """All objects of a list; empty if there is no such list."""
        try:
            return [msgspec.json.decode(each) for each in await self.undecoded(path, query)]
        except NotFound:
            return []

    async def undecoded(self, path: str, query: Query = ()) -> list[bytes]:
        """All objects of a list as bytes; `NotFound` if there is no such list."""
        found: list[bytes] = []
        asked = {**dict(query), "limit": str(PAGE)}
        while True:
            page = _paged((await self._answer(path, asked)).body, path)
            found += map(bytes, page.items or ())
            if not page.metadata.continue_:
                return found
            asked["continue"] = page.metadata.continue_

    async def _answer(self, path: str, query: Query) -> Response:
        return await ask_while_busy(
            self.connection,
            "GET",
            path,
            patience=self._patience,
            query=query,
            timeout=self._limit,
        )


def _paged(body: bytes, path: str) -> ListPage:
    try:
        return _page(body)
    except msgspec.MsgspecError:
        raise RetryLater(f"list {path.rsplit('/', 1)[1]}: the answer isn't a list") from None
