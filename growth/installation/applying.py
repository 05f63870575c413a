"""Server-side apply of complete objects: we own our fields, and others keep theirs.

Fields of controllers (the CA bundle of a webhook configuration, the holder of a Lease) aren't in
the manifests, so applying them again doesn't remove these.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from growth.errors import GiveUp, Misconfigured
from growth.installation.asking import ask_patiently, find_object
from growth.installation.resources import object_path, title_of
from growth.kube.call import APPLY_PATCH
from growth.kube.errors import NotFound, Refused

if TYPE_CHECKING:
    from growth.installation.shipped import Object
    from growth.kube.transport import Connection

APPLIER: Final = "growth-install"
"""The field manager."""
_OF_THE_SERVER: Final = ("resourceVersion", "generation", "managedFields")
_NEEDED: Final = {
    "MutatingAdmissionPolicy": "`admission: Policy` requires Kubernetes 1.36 or later",
    "MutatingAdmissionPolicyBinding": "`admission: Policy` requires Kubernetes 1.36 or later",
    "PrometheusRule": "`monitoring: true` requires the Prometheus operator",
    "ServiceMonitor": "`monitoring: true` requires the Prometheus operator",
}


class ApplyOutcome(StrEnum):
    """The result of an apply."""

    CREATED = "created"
    CHANGED = "changed"
    SAME = "unchanged"


async def apply(connection: Connection, item: Object) -> ApplyOutcome:
    """Apply an object."""
    return await _applied(connection, item, query={})


async def rehearse(connection: Connection, item: Object) -> ApplyOutcome:
    """The result that an apply would have; the API server validates it and stores nothing."""
    namespace = item["metadata"].get("namespace")
    if namespace and await find_object(connection, f"/api/v1/namespaces/{namespace}") is None:
        return ApplyOutcome.CREATED
    return await _applied(connection, item, query={"dryRun": "All"})


async def _applied(connection: Connection, item: Object, *, query: dict[str, str]) -> ApplyOutcome:
    before = await find_object(connection, object_path(item))
    try:
        answer = await ask_patiently(
            connection,
            "PATCH",
            object_path(item),
            query={
                "fieldManager": APPLIER,
                "force": "true",
                "fieldValidation": "Strict",
                **query,
            },
            body=item,
            content_type=APPLY_PATCH,
        )
    except NotFound:
        raise Misconfigured(_unknown(item)) from None
    except Refused as refused:
        raise GiveUp(f"{title_of(item)}: the API server rejects it: {refused.message}") from None
    if before is None:
        return ApplyOutcome.CREATED
    return ApplyOutcome.SAME if _plain(before) == _plain(answer.json()) else ApplyOutcome.CHANGED


def _plain(item: Object) -> Any:
    """The object without its status and the fields that the API server sets."""
    metadata = {k: v for k, v in item["metadata"].items() if k not in _OF_THE_SERVER}
    return {k: v for k, v in item.items() if k != "status"} | {"metadata": metadata}


def _unknown(item: Object) -> str:
    kind = item["kind"]
    needed = _NEEDED.get(kind, "is the namespace being deleted?")
    return f"{title_of(item)}: the API server has no {kind} there: {needed}"
