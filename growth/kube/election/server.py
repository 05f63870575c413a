"""The requests of an election to the API server.

Reads are consistent: without a resourceVersion, the API server doesn't answer from its watch cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.errors import DecideAgain, Misconfigured
from growth.kube.call import MERGE_PATCH
from growth.kube.election.lease import Lease, holding_patch, lease_from, release_patch, unheld_lease
from growth.kube.errors import NotFound
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from datetime import datetime

    from growth.kube.transport import Connection


class LeaseChange(msgspec.Struct, frozen=True):
    """A line of a watch; of bookmarks and errors only the type is read."""

    type: str
    object: msgspec.Raw


class LeaseOnServer:
    """The requests for one Lease."""

    def __init__(
        self,
        connection: Connection,
        *,
        namespace: str,
        name: str,
        annotations: Callable[[], Mapping[str, str | None]] = dict,
    ) -> None:
        self._connection = connection
        self._namespace = namespace
        self._name = name
        self._annotations = annotations
        """Annotations of the holder, written with each renewal; None removes one."""
        self.title = f"{namespace}/{name}"
        self._all = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"

    async def read(self) -> Lease | None:
        """The Lease now, or None if it doesn't exist."""
        try:
            response = await self._connection.request("GET", f"{self._all}/{self._name}")
        except NotFound:
            return None
        return lease_from(response.body)

    async def releases(self) -> AsyncIterator[None]:
        """Yield whenever the Lease has no holder, until the API server ends the watch."""
        query = {"watch": "true", "fieldSelector": f"metadata.name={self._name}"}
        async with self._connection.stream(self._all, query=query) as answer:
            async for line in answer.content:
                if _frees(line):
                    yield

    async def make(self, *, duration: int, now: datetime) -> Lease:
        """Create the missing Lease, without a holder."""
        body = unheld_lease(name=self._name, duration=duration, now=now)
        try:
            response = await self._connection.request("POST", self._all, body=body)
        except NotFound as error:
            raise Misconfigured(
                f'leader election: namespace "{self._namespace}" of the Lease doesn\'t exist: '
                "create it, or name another namespace"
            ) from error
        return lease_from(response.body)

    async def hold(self, lease: Lease, *, holder: str, duration: int, now: datetime) -> Lease:
        """Write this holder into the Lease, in the state that was seen."""
        patch = holding_patch(lease, holder=holder, duration=duration, now=now)
        if annotations := dict(self._annotations()):
            patch["metadata"]["annotations"] = annotations
        return await self._patch(patch)

    async def release(self, lease: Lease, *, now: datetime) -> Lease:
        """Release the Lease, in the state that was seen."""
        return await self._patch(release_patch(lease, now=now))

    async def _patch(self, body: dict[str, Any]) -> Lease:
        try:
            response = await self._connection.request(
                "PATCH", f"{self._all}/{self._name}", body=body, content_type=MERGE_PATCH
            )
        except NotFound as error:
            raise DecideAgain(f"Lease {self.title} was deleted") from error
        return lease_from(response.body)


def _frees(line: bytes) -> bool:
    """Whether the line shows the Lease without a holder."""
    try:
        change = msgspec.json.decode(line, type=LeaseChange)
        if change.type in {"ADDED", "MODIFIED"}:
            return not lease_from(bytes(change.object)).spec.held
    except UNDECODABLE:
        return False  # A broken connection ends in the middle of a line.
    return change.type == "DELETED"
