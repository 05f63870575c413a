"""Writes to the API server that never overwrite a change of someone else.

Each write follows a decision on one state of the object. It contains the version of that state, and
the API server refuses it (409, `DecideAgain`) if there is a newer one. So it is also safe to repeat
a write whose answer was lost: if it had succeeded, the repetition is refused. Confirmed writes are
noted as our own, so that no rule decides on the object before the cache has seen them.

Objects are never read, changed and written back completely, because fields that we don't know would
be lost.
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
        """The state of an object in the cache."""
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
    """The writes of one kind. `noted` is the `OwnWrites` of its cache, if there is a cache."""

    def __init__(
        self, connection: Connection, *, path: str, noted: OwnWrites | None = None
    ) -> None:
        self._connection = connection
        self._group, _, self._plural = path.rpartition("/")
        self._noted = noted

    async def create(self, body: Mapping[str, Any]) -> Decided:
        """Create an object. `AlreadyExists` if the name is taken, maybe by an earlier try."""
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
        """Send a merge patch; None removes a field, and a list replaces the whole list."""
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
        """Apply the body: we own its fields, and those that we applied before are removed."""
        return await self._patch(
            decided,
            body=_at_version(body, decided),
            content_type=APPLY_PATCH,
            # Without force, a field that another manager has set is a conflict each time.
            query={"fieldManager": FIELD_MANAGER, "force": "true"},
            subresource=subresource,
        )

    async def apply_unowned(
        self, decided: Decided, body: Mapping[str, Any], *, subresource: str = ""
    ) -> Decided:
        """Apply the body, unless others own one of its fields: `OwnedByOthers`."""
        return await self._patch(
            decided,
            body=_at_version(body, decided),
            content_type=APPLY_PATCH,
            query={"fieldManager": FIELD_MANAGER},
            subresource=subresource,
        )

    async def json_patch(
        self, decided: Decided, operations: Sequence[Mapping[str, Any]], *, subresource: str = ""
    ) -> Decided:
        """Send a JSON patch, which can change a single entry of a list."""
        # A JSON patch has no metadata, so the version is checked by an operation.
        test = {"op": "test", "path": "/metadata/resourceVersion", "value": decided.version}
        return await self._patch(
            decided,
            body=[test, *operations],
            content_type=JSON_PATCH,
            query={"fieldManager": FIELD_MANAGER},
            subresource=subresource,
        )

    async def delete(self, decided: Decided) -> None:
        """Delete exactly this object in exactly this state."""
        await self._connection.request(
            "DELETE",
            self._path(decided.key.namespace, decided.key.name),
            body={
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": _preconditions(decided),
                # With Foreground, the object would stay until all of its dependents are gone.
                "propagationPolicy": "Background",
            },
        )
        self._going(decided)

    async def adopt(self, key: Key) -> Decided:
        """Note an object that a write of ours has created although its answer was lost."""
        response = await self._connection.request("GET", self._path(key.namespace, key.name))
        return self._confirmed(key, response, noted_as=OwnCreate)

    def gone(self, decided: Decided) -> None:
        """Note an object that is already deleted, so that nothing decides on it in the cache."""
        self._going(decided)

    async def evict(self, decided: Decided) -> None:
        """Evict a pod. `BudgetExhausted` if a PodDisruptionBudget doesn't allow it now."""
        await self._connection.request(
            "POST",
            self._path(decided.key.namespace, decided.key.name, "eviction"),
            body={
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": decided.key.name, "namespace": decided.key.namespace},
                # A StatefulSet gives each new pod the name of the one before.
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
    # With the uid, because an apply would create a deleted object again in spite of the version.
    state = {"resourceVersion": decided.version, "uid": decided.uid}
    return {**body, "metadata": {**body.get("metadata", {}), **state}}


def _preconditions(decided: Decided) -> dict[str, str]:
    return {"uid": decided.uid, "resourceVersion": decided.version}
