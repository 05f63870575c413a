"""Complete lists of a cluster's objects, for commands that only read.

An object that can't be read is left out and reported, so that one invalid object doesn't hide all
the others.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from growth.cli.cluster.connecting import PATIENCE, greeted
from growth.errors import GiveUp
from growth.kube.errors import NotFound
from growth.kube.reads import Reads
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping

    from growth.api.meta import CustomResource
    from growth.kube.transport import Connection

_T = TypeVar("_T")
_R = TypeVar("_R", bound="CustomResource")

LIST_PATIENCE: Final = 30.0
"""Seconds for a page of a list; a server that has answered once gets more time."""

A_MOMENT: Final = 0.3
"""Seconds that other questions have left for their answers after one has failed."""


class NotInstalled(GiveUp):
    """The kind isn't installed in this cluster."""

    def __init__(self) -> None:
        super().__init__(
            "growth's CustomResourceDefinitions aren't installed; run growth doctor for details"
        )


@asynccontextmanager
async def reading_lists(arguments: argparse.Namespace) -> AsyncIterator[Lists]:
    """The lists of the chosen cluster, which has answered once."""
    async with greeted(arguments) as (connection, version):
        yield Lists(connection, version=version)


class Lists:
    """Reads complete lists, and collects the objects that can't be read."""

    def __init__(self, connection: Connection, *, version: str = "") -> None:
        self.connection = connection
        self._reads = Reads(connection, limit=LIST_PATIENCE, patience=PATIENCE)
        self.version = version
        """The version of the API server."""
        self._left_out: dict[tuple[str, ...], list[str]] = {}
        """Unreadable objects by list, because commands that watch read the same lists repeatedly.
        """

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Kind and name of each unreadable object in the latest lists."""
        return tuple(sorted({name for names in self._left_out.values() for name in names}))

    async def ours(self, kind: type[_R]) -> tuple[_R, ...]:
        """Read all objects of one of growth's kinds."""
        try:
            return await self.all_of(kind.collection(), kind.model_validate_json)
        except NotFound:
            raise NotInstalled from None

    async def all_of(
        self, path: str, decode: Callable[[bytes], _T], query: Mapping[str, str] | None = None
    ) -> tuple[_T, ...]:
        """Read a complete list."""
        found: list[_T] = []
        left_out: list[str] = []
        for raw in await self._reads.undecoded(path, query or {}):
            try:
                found.append(decode(raw))
            except (*UNDECODABLE, ValueError):
                left_out.append(_title(raw, path))
        self._left_out[path, *sorted((query or {}).values())] = left_out
        return tuple(found)


async def together(works: Iterable[Coroutine[object, object, _T]]) -> list[_T]:
    """Await all of them; the first failure cancels the others and is raised once they have ended.

    The others are usually about to be answered, so they get a moment: Python leaves a connection
    open for good if its opening is cancelled at the moment at which it succeeds.

    A task group would not do: it forgets that it was cancelled if one of its tasks fails at that
    moment, so a Ctrl-C would be lost.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    if not tasks:
        return []
    try:
        done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if others:
            await asyncio.wait(others, timeout=A_MOMENT)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    failed = [task for task in done if not task.cancelled() and task.exception() is not None]
    return [task.result() for task in failed or tasks]


def tell_left_out(names: Iterable[str]) -> None:
    """Report unreadable objects on standard error, which programs don't parse."""
    for each in sorted(set(names)):
        print(f"ignored, because it can't be read: {each}", file=sys.stderr)


def _title(raw: bytes, path: str) -> str:
    metadata: dict[str, Any] = msgspec.json.decode(raw).get("metadata") or {}
    names = (metadata.get("namespace"), metadata.get("name"))
    return f"{path.rsplit('/', 1)[1]} {'/'.join(filter(None, names))}"
