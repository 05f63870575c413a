"""Server-side apply of whole objects: what we say is ours, what others add stays theirs.

A controller's own fields (the authority in a webhook's registration, the holder of a Lease) are not
in the manifests, so applying them again takes nothing away.
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
"""Who owns the fields that are applied."""
_OF_THE_SERVER: Final = ("resourceVersion", "generation", "managedFields")
_NEEDED: Final = {
    "MutatingAdmissionPolicy": "`admission: Policy` needs Kubernetes 1.36 or newer",
    "MutatingAdmissionPolicyBinding": "`admission: Policy` needs Kubernetes 1.36 or newer",
    "PrometheusRule": "`monitoring: true` needs the Prometheus operator",
    "ServiceMonitor": "`monitoring: true` needs the Prometheus operator",
}


class ApplyOutcome(StrEnum):
    """What an apply comes to."""

    CREATED = "created"
    CHANGED = "changed"
    SAME = "unchanged"


async def apply(connection: Connection, item: Object) -> ApplyOutcome:
    """Bring one object into the cluster."""
    return await _applied(connection, item, query={})


async def rehearse(connection: Connection, item: Object) -> ApplyOutcome:
    """What an apply would come to; the API server checks it and stores nothing."""
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
        raise GiveUp(f"{title_of(item)}: the API server refuses it: {refused.message}") from None
    if before is None:
        return ApplyOutcome.CREATED
    return ApplyOutcome.SAME if _plain(before) == _plain(answer.json()) else ApplyOutcome.CHANGED


def _plain(item: Object) -> Any:
    """What somebody says of it; its status moves by itself, as in every rollout."""
    metadata = {k: v for k, v in item["metadata"].items() if k not in _OF_THE_SERVER}
    return {k: v for k, v in item.items() if k != "status"} | {"metadata": metadata}


def _unknown(item: Object) -> str:
    kind = item["kind"]
    needed = _NEEDED.get(kind, "is the namespace being deleted?")
    return f"{title_of(item)}: the API server knows no {kind} there: {needed}"
