"""Requests of an installation, which are repeated while the API server is busy.

It is busy for a moment after definitions were created or deleted, which is when these are sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.kube.reads import Reads, ask_while_busy

if TYPE_CHECKING:
    from growth.installation.shipped import Object
    from growth.kube.transport import Connection, Response

PATIENCE: Final = 20.0
"""Seconds to wait for a busy API server."""


async def ask_patiently(connection: Connection, method: str, path: str, **words: Any) -> Response:
    """Send a request, and repeat it while the API server is busy."""
    return await ask_while_busy(connection, method, path, patience=PATIENCE, **words)


async def find_object(connection: Connection, path: str) -> Object | None:
    """The object at a path, if there is one."""
    return await Reads(connection, patience=PATIENCE).found(path)


async def list_objects(connection: Connection, path: str, **query: str) -> list[Object]:
    """The objects of a collection; empty if it doesn't exist."""
    return await Reads(connection, patience=PATIENCE).listed(path, query)
