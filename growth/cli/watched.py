"""What commands read of a cluster: whole lists of what growth is about, asked for once.

An object that can't be read is left out and named, so that one strange object doesn't hide all the
others.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import pydantic

from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.wellknown import GROUP_VERSION, MANAGED_BY, MANAGED_BY_LABEL
from growth.errors import GiveUp
from growth.kube.errors import NotFound, Overloaded
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.api.meta import Resource
    from growth.kube.transport import Connection

_T = TypeVar("_T")
_R = TypeVar("_R", bound="Resource")

PATIENCE: Final = 4.0
"""Seconds to wait for an answer: a person is told within five that nobody is there."""
PAUSE: Final = 0.2
"""Seconds before a busy server is asked again, if it doesn't say."""
NODES: Final = "/api/v1/nodes"
PODS: Final = "/api/v1/pods"


@dataclass(frozen=True, kw_only=True)
class Watched:
    """Pools, what is on its way or leaving, our nodes, and the pods that wait."""

    pools: tuple[NodePool, ...] = ()
    requests: tuple[NodeRequest, ...] = ()
    removals: tuple[NodeRemovalRequest, ...] = ()
    nodes: tuple[Node, ...] = ()
    pending: tuple[Pod, ...] = ()
    unreadable: tuple[str, ...] = field(default=())
    """What was left out: kind and name."""


async def watched(connection: Connection) -> Watched:
    """Everything at once; what has no definition yet is said in one line."""
    reader = _Reader(connection)
    try:
        pools, requests, removals, nodes, pending = await asyncio.gather(
            reader.ours(NodePool),
            reader.ours(NodeRequest),
            reader.ours(NodeRemovalRequest),
            reader.built_in(NODES, Node, {"labelSelector": f"{MANAGED_BY_LABEL}={MANAGED_BY}"}),
            reader.built_in(PODS, Pod, {"fieldSelector": "spec.nodeName=,status.phase=Pending"}),
        )
    except NotFound:
        raise GiveUp(
            "growth's objects are not installed here; growth doctor says what is missing"
        ) from None
    return Watched(
        pools=pools,
        requests=requests,
        removals=removals,
        nodes=nodes,
        pending=pending,
        unreadable=tuple(sorted(reader.unreadable)),
    )


class _Reader:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.unreadable: list[str] = []

    async def ours(self, kind: type[_R]) -> tuple[_R, ...]:
        path = f"/apis/{GROUP_VERSION}/{kind.kind_names[0]}"
        return self._read(await self._items(path, {}), kind.__name__, kind.model_validate)

    async def built_in(self, path: str, kind: type[_T], query: Mapping[str, str]) -> tuple[_T, ...]:
        items = await self._items(path, query)
        return self._read(items, kind.__name__, lambda item: msgspec.convert(item, kind))

    async def _items(self, path: str, query: Mapping[str, str]) -> list[Any]:
        """A list; a server that is busy, or has just been told of a kind, is asked again."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = await self._connection.request("GET", path, query=query, timeout=PATIENCE)
            except Overloaded as busy:
                pause = busy.after or PAUSE
                if time.monotonic() + pause > deadline:
                    raise
                await asyncio.sleep(pause)
            else:
                items: list[Any] = answer.json()["items"]
                return items

    def _read(self, items: list[Any], kind: str, convert: Callable[[Any], _T]) -> tuple[_T, ...]:
        return tuple(found for item in items if (found := self._one(item, kind, convert)))

    def _one(self, item: Any, kind: str, convert: Callable[[Any], _T]) -> _T | None:
        try:
            return convert(item)
        except (pydantic.ValidationError, msgspec.ValidationError):
            self.unreadable.append(f"{kind} {item['metadata']['name']}")
            return None
