"""Requests of an installation, tried again while the API server says that it can't yet.

It says so for a moment after definitions have come or gone, which is just when we ask.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from growth.kube.errors import NotFound, Overloaded

if TYPE_CHECKING:
    from growth.installation.shipped import Object
    from growth.kube.transport import Connection, Response

TRIES: Final = 40
PAUSE: Final = 0.5


async def ask_patiently(connection: Connection, method: str, path: str, **words: Any) -> Response:
    """One request, or the last of several."""
    for _ in range(TRIES):
        try:
            return await connection.request(method, path, **words)
        except Overloaded as error:
            await asyncio.sleep(error.after or PAUSE)
    return await connection.request(method, path, **words)


async def find_object(connection: Connection, path: str) -> Object | None:
    """What is at a path, if anything is."""
    try:
        answer: Object = (await ask_patiently(connection, "GET", path)).json()
    except NotFound:
        return None
    return answer


async def list_objects(connection: Connection, path: str, **query: str) -> list[Object]:
    """The objects of a collection, if there is one."""
    try:
        answer = await ask_patiently(connection, "GET", path, query=query)
    except NotFound:
        return []
    items: list[Object] = answer.json()["items"]
    return items
