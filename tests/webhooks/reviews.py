"""Reviews as kube-apiserver sends them, and what their answers make of the pod (RFC 6902)."""

from __future__ import annotations

import base64
import copy
import json
from typing import TYPE_CHECKING, Any

from growth.api.nodepool import NodePool
from webhooks.pools import AdmissionPools, pools_of_moment

if TYPE_CHECKING:
    from collections.abc import Iterable

UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


def pools_from(documents: Iterable[dict[str, Any]]) -> AdmissionPools:
    """Pools as the cache would know them."""
    return pools_of_moment(NodePool.model_validate(document) for document in documents)


def review_of(pod: dict[str, Any] | None, **request: Any) -> dict[str, Any]:
    """The review of a pod that is being created."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": UID,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "name": (pod or {}).get("metadata", {}).get("name", ""),
            "namespace": "shop",
            "operation": "CREATE",
            "userInfo": {"username": "ada", "groups": ["system:authenticated"]},
            "object": None if pod is None else {"apiVersion": "v1", "kind": "Pod", **pod},
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            **request,
        },
    }


def posted(pod: dict[str, Any] | None, **request: Any) -> bytes:
    """The same as bytes."""
    return json.dumps(review_of(pod, **request)).encode()


def changed_by(answer: bytes, pod: dict[str, Any]) -> dict[str, Any]:
    """The pod with the patch of an answer, which has to let it in."""
    review = json.loads(answer)
    response = review["response"]
    assert (review["apiVersion"], review["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert response["uid"] == UID
    assert response["allowed"] is True
    if "patch" not in response:
        assert "patchType" not in response
        return pod
    assert response["patchType"] == "JSONPatch"
    return apply_patch(pod, json.loads(base64.b64decode(response["patch"])))


def warnings_of(answer: bytes) -> tuple[str, ...]:
    """What is told to whoever creates the pod."""
    return tuple(json.loads(answer)["response"].get("warnings", ()))


def apply_patch(document: dict[str, Any], patch: list[dict[str, Any]]) -> dict[str, Any]:
    """The document with additions made; a parent that is missing is a KeyError."""
    result = copy.deepcopy(document)
    for operation in patch:
        assert operation["op"] == "add"
        *parents, last = (
            step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:]
        )
        place: Any = result
        for step in parents:
            place = place[step]
        if isinstance(place, list):
            assert last == "-"
            place.append(operation["value"])
        else:
            place[last] = operation["value"]
    return result
