"""Writes to the API server, none of which can undo what somebody else has done meanwhile.

A write follows a decision, and the decision was made on one state of the object. So each write
names that state's version, and the API server refuses it (409, `DecideAgain`) when there is a newer
one. That also makes a write safe whose answer was lost: repeated, it is refused if it had worked.
What is confirmed is noted as our own, so that nobody decides on the object before the cache has
seen it.

Objects are never read, changed and put back whole: fields that we don't know would be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.kube.cache.own_writes import Deleted, OwnCreate, OwnWrite
from growth.kube.cache.resource import Key
from growth.kube.call import APPLY_PATCH, JSON_PATCH, MERGE_PATCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from growth.kube.cache.own_writes import OwnWrites
    from growth.kube.cache.resource import KubernetesObject
    from growth.kube.transport import Connection, Response

FIELD_MANAGER = "growth"


class Decided(msgspec.Struct, frozen=True):
    """The state of an object that a decision was made on."""

    key: Key
    uid: str
    version: str

    @classmethod
    def on(cls, obj: KubernetesObject) -> Decided:
        """The state that this object of the cache is in."""
        metadata = obj.metadata
        key = Key(getattr(metadata, "namespace", ""), metadata.name)
        return cls(key, metadata.uid, metadata.resource_version)


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    uid: str = ""
    resource_version: str = ""


class _Answer(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


_decode = msgspec.json.Decoder(_Answer).decode


class Writes:
    """Writes of one kind. `noted` is that kind's own part of the cache, where there is one."""

    def __init__(
        self, connection: Connection, *, path: str, noted: OwnWrites | None = None
    ) -> None:
        self._connection = connection
        self._group, _, self._plural = path.rpartition("/")
        self._noted = noted

    async def create(self, body: Mapping[str, Any]) -> Decided:
        """A new object. `AlreadyExists` when its name is taken, be it by an earlier try of ours."""
        metadata = body["metadata"]
        key = Key(metadata.get("namespace", ""), metadata["name"])
        response = await self._connection.request(
            "POST",
            self._path(key.namespace),
            query={"fieldManager": FIELD_MANAGER},
            body=body,
        )
        return self._confirmed(key, response, noted_as=OwnCreate)

    async def merge(
        self, decided: Decided, patch: Mapping[str, Any], *, subresource: str = ""
    ) -> Decided:
        """Sets the fields of the patch; None removes one, and a list replaces the whole list."""
        return await self._patch(
            decided,
            body=_at_version(patch, decided),
            content_type=MERGE_PATCH,
            query={"fieldManager": FIELD_MANAGER},
            subresource=subresource,
        )

    async def apply(
        self, decided: Decided, body: Mapping[str, Any], *, subresource: str = ""
    ) -> Decided:
        """Makes the fields of the body ours, and drops those that we applied before."""
        return await self._patch(
            decided,
            body=_at_version(body, decided),
            content_type=APPLY_PATCH,
            query={"fieldManager": FIELD_MANAGER, "force": "true"},
            subresource=subresource,
        )

    async def json_patch(
        self, decided: Decided, operations: Sequence[Mapping[str, Any]], *, subresource: str = ""
    ) -> Decided:
        """Single operations, for what a merge can't say: one entry of a list."""
        test = {"op": "test", "path": "/metadata/resourceVersion", "value": decided.version}
        return await self._patch(
            decided,
            body=[test, *operations],
            content_type=JSON_PATCH,
            query={"fieldManager": FIELD_MANAGER},
            subresource=subresource,
        )

    async def delete(self, decided: Decided) -> None:
        """Asks for the deletion of exactly this object in exactly this state."""
        await self._connection.request(
            "DELETE",
            self._path(decided.key.namespace, decided.key.name),
            body={
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": _preconditions(decided),
                "propagationPolicy": "Background",
            },
        )
        self._going(decided)

    async def adopt(self, key: Key) -> Decided:
        """An object that a write of ours has made though its answer was lost: now it is noted."""
        response = await self._connection.request("GET", self._path(key.namespace, key.name))
        return self._confirmed(key, response, noted_as=OwnCreate)

    def gone(self, decided: Decided) -> None:
        """An object that turned out to be deleted already: nobody decides until the cache knows."""
        self._going(decided)

    async def evict(self, decided: Decided) -> None:
        """Asks for the eviction of a pod. `BudgetExhausted` when a budget forbids it for now."""
        await self._connection.request(
            "POST",
            self._path(decided.key.namespace, decided.key.name, "eviction"),
            body={
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": decided.key.name, "namespace": decided.key.namespace},
                "deleteOptions": {"preconditions": _preconditions(decided)},
            },
        )
        self._going(decided)

    async def _patch(
        self,
        decided: Decided,
        *,
        body: object,
        content_type: str,
        query: Mapping[str, str],
        subresource: str,
    ) -> Decided:
        response = await self._connection.request(
            "PATCH",
            self._path(decided.key.namespace, decided.key.name, subresource),
            query=query,
            body=body,
            content_type=content_type,
        )
        return self._confirmed(decided.key, response)

    def _confirmed(
        self,
        key: Key,
        response: Response,
        *,
        noted_as: type[OwnWrite | OwnCreate] = OwnWrite,
    ) -> Decided:
        metadata = _decode(response.body).metadata
        if self._noted is not None:
            self._noted.note(key, noted_as(uid=metadata.uid, version=metadata.resource_version))
        return Decided(key, metadata.uid, metadata.resource_version)

    def _going(self, decided: Decided) -> None:
        if self._noted is not None:
            self._noted.note(decided.key, Deleted(uid=decided.uid, version=decided.version))

    def _path(self, namespace: str, *rest: str) -> str:
        place = f"namespaces/{namespace}/{self._plural}" if namespace else self._plural
        return "/".join([self._group, place, *filter(None, rest)])


def _at_version(body: Mapping[str, Any], decided: Decided) -> dict[str, Any]:
    # The uid too: an apply whose object is gone would create it anew in spite of the version.
    state = {"resourceVersion": decided.version, "uid": decided.uid}
    return {**body, "metadata": {**body.get("metadata", {}), **state}}


def _preconditions(decided: Decided) -> dict[str, str]:
    return {"uid": decided.uid, "resourceVersion": decided.version}
