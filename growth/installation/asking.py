"""Requests of an installation, made again while the API server is busy.

It is for a moment after definitions have come or gone, which is just when we ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.kube.reads import Reads, ask_while_busy

if TYPE_CHECKING:
    from growth.installation.shipped import Object
    from growth.kube.transport import Connection, Response

PATIENCE: Final = 20.0
"""Seconds."""


async def ask_patiently(connection: Connection, method: str, path: str, **words: Any) -> Response:
    """One request, or the last of several."""
    return await ask_while_busy(connection, method, path, patience=PATIENCE, **words)


async def find_object(connection: Connection, path: str) -> Object | None:
    """What is at a path, if anything is."""
    return await Reads(connection, patience=PATIENCE).found(path)


async def list_objects(connection: Connection, path: str, **query: str) -> list[Object]:
    """The objects of a collection, if there is one."""
    return await Reads(connection, patience=PATIENCE).listed(path, query)
