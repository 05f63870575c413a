"""Counts the strikes of faults on the KwokNodeClass itself, so that the counts survive a restart.

A strike is recorded before it happens, with the resourceVersion of the class that was read. If two
happen at once, the second gets a conflict and reads again, so none is lost or counted twice.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from growth.api.kwoknodeclass import KwokNodeClass
from growth.errors import RetryLater
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import Conflict
from reconciler.providers.kwok.faults import STRUCK_ANNOTATION, met, struck, with_another

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.kwoknodeclass import FaultKind, InjectedFault
    from growth.api.written import ServerTypeName
    from growth.kube.transport import Connection

PATH: Final = KwokNodeClass.collection()
_TRIES: Final = 10


class FaultTally:
    """The counted faults of one class."""

    def __init__(
        self, connection: Connection, *, node_class: Callable[[], KwokNodeClass | None]
    ) -> None:
        self._connection = connection
        self._node_class = node_class
        self._one_at_a_time = asyncio.Lock()

    async def strikes(
        self, kind: FaultKind, *, server_type: ServerTypeName, location: str
    ) -> InjectedFault | None:
        """The fault of this kind that strikes now, already counted; None if none does."""
        known = self._node_class()
        if known is None:
            return None
        for key, fault in met(known, kind, server_type=server_type, location=location):
            if fault.count is None or await self._is_counted(key, known, most=fault.count):
                return fault
        return None

    async def _is_counted(self, key: str, known: KwokNodeClass, *, most: int) -> bool:
        """Record a strike; False if the fault has none left."""
        if struck(known).get(key, 0) >= most:
            return False
        async with self._one_at_a_time:
            for _ in range(_TRIES):
                newest = await self._newest(known.name)
                if newest is None or struck(newest).get(key, 0) >= most:
                    return False
                try:
                    await self._write(newest, with_another(newest, key))
                except Conflict:
                    continue
                return True
        raise RetryLater(f"KwokNodeClass {known.name} keeps changing")

    async def _newest(self, name: str) -> KwokNodeClass | None:
        # A list with one name: a role that may watch a kind may list it, but not always get it.
        query = {"fieldSelector": f"metadata.name={name}"}
        found = (await self._connection.request("GET", PATH, query=query)).json()["items"]
        return KwokNodeClass.model_validate(found[0]) if found else None

    async def _write(self, node_class: KwokNodeClass, counts: str) -> None:
        metadata = {
            "resourceVersion": node_class.metadata.resource_version,
            "annotations": {STRUCK_ANNOTATION: counts},
        }
        await self._connection.request(
            "PATCH",
            f"{PATH}/{node_class.name}",
            body={"metadata": metadata},
            content_type=MERGE_PATCH,
        )
