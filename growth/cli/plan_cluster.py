"""What `growth plan --from-cluster` sees: whole lists, asked for once, and nothing written.

A cluster in which growth isn't installed has none of its objects, which is no mistake: pools and
classes may come from files. An object that can't be read is left out and named, so that one strange
object doesn't hide all the others.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import pydantic

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.noderequest import NodeRequest
from growth.cli.connecting import connected
from growth.cli.plan_prices import DataKey
from growth.errors import RetryLater
from growth.kube.errors import NotFound
from growth.kube.listing import Page
from growth.scheduling.cluster import Object
from reconciler.sources import BUILT_IN, path_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable

    from growth.kube.transport import Connection

_T = TypeVar("_T")

PATIENCE: Final = 3.0
"""Seconds to wait for the first answer: a person is told within five that nobody is there, and
before that the engine is loaded."""
LIST_PATIENCE: Final = 30.0
"""Seconds for a page of a list; whoever answered once may take its time."""
PAGE: Final = "500"
Ours = NodePool | NodeRequest | KwokNodeClass | HetznerNodeClass
OURS: Final[tuple[type[Ours], ...]] = (NodePool, NodeRequest, KwokNodeClass, HetznerNodeClass)
NOT_LOOKED_AT: Final = frozenset({"budgets"})
"""A plan moves nobody."""

_page = msgspec.json.Decoder(Page).decode


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster at one moment."""

    objects: tuple[Object, ...]
    resources: tuple[Ours, ...]
    """Objects of growth."""
    config_maps: Mapping[DataKey, str]
    """Those that classes have their catalogues from."""
    unreadable: tuple[str, ...]
    """What was left out: kind and name."""


async def seen(arguments: argparse.Namespace) -> Seen:
    """Everything that a plan depends on."""
    async with connected(arguments) as connection:
        await connection.request("GET", "/version", timeout=PATIENCE)
        reader = _Reader(connection)
        built_in = [
            reader.all_of(path, decode)
            for name, (path, decode) in BUILT_IN.items()
            if name not in NOT_LOOKED_AT
        ]
        objects = await _together(built_in)
        resources = await _together(reader.ours(kind) for kind in OURS)
        ours = tuple(each for several in resources for each in several)
        config_maps = {key: text async for key, text in _catalogues(connection, ours)}
    return Seen(
        objects=tuple(each for several in objects for each in several),
        resources=ours,
        config_maps=config_maps,
        unreadable=tuple(sorted(reader.unreadable)),
    )


async def _together(works: Iterable[Coroutine[object, object, _T]]) -> list[_T]:
    """What all of them give; the first that fails ends the others, which is waited for."""
    try:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(work) for work in works]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in running]


async def _catalogues(
    connection: Connection, resources: Iterable[Ours]
) -> AsyncIterator[tuple[DataKey, str]]:
    """The catalogues that are in ConfigMaps; one that is missing is told where it is needed."""
    for each in resources:
        reference = each.spec.catalogue_from if isinstance(each, KwokNodeClass) else None
        if reference is None:
            continue
        path = f"/api/v1/namespaces/{reference.namespace}/configmaps/{reference.name}"
        with contextlib.suppress(NotFound):
            found = (await connection.request("GET", path)).json().get("data") or {}
            if reference.key in found:
                yield (reference.namespace, reference.name, reference.key), found[reference.key]


class _Reader:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.unreadable: list[str] = []

    async def ours(self, kind: type[Ours]) -> list[Ours]:
        """Objects of growth; none where there is no such kind."""
        try:
            return await self.all_of(path_of(kind), kind.model_validate_json)
        except NotFound:
            return []

    async def all_of(self, path: str, decode: Callable[[bytes], _T]) -> list[_T]:
        """A whole list, page by page."""
        found: list[_T] = []
        more = ""
        while True:
            query = {"limit": PAGE} | ({"continue": more} if more else {})
            answer = await self._connection.request("GET", path, query=query, timeout=LIST_PATIENCE)
            page = _paged(answer.body, path)
            read = (self._one(bytes(raw), path, decode) for raw in page.items or ())
            found += (each for each in read if each is not None)
            more = page.metadata.continue_
            if not more:
                return found

    def _one(self, raw: bytes, path: str, decode: Callable[[bytes], _T]) -> _T | None:
        try:
            return decode(raw)
        except (pydantic.ValidationError, msgspec.ValidationError):
            metadata: dict[str, Any] = msgspec.json.decode(raw).get("metadata") or {}
            names = (metadata.get("namespace"), metadata.get("name"))
            self.unreadable.append(f"{path.rsplit('/', 1)[1]} {'/'.join(filter(None, names))}")
            return None


def _paged(body: bytes, path: str) -> Page:
    try:
        return _page(body)
    except msgspec.MsgspecError:
        raise RetryLater(f"list {path.rsplit('/', 1)[1]}: the answer is no list") from None
