"""What the scheduler sends, and what is in a cluster, for the tests of the extender."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.resource import key_of
from growth.scheduling.objects import Node, Pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.kube.cache.resource import KubernetesObject

T = TypeVar("T", bound="KubernetesObject")


def question(names: Iterable[str], *, uid: str = "uid-1", **more: Any) -> bytes:
    """ExtenderArgs as a scheduler with nodeCacheCapable sends them."""
    metadata = {"name": "web-1", "namespace": "shop", "uid": uid, "resourceVersion": "7"}
    pod = {"metadata": metadata, "spec": {"containers": []}}
    return json.dumps({"Pod": pod, "Nodes": None, "NodeNames": list(names)} | more).encode()


def a_node(name: str, *, cpu: str = "4", memory: str = "8Gi", **more: Any) -> Node:
    taints = [{"key": key, "effect": "NoSchedule"} for key in more.pop("taints", ())]
    return msgspec.convert(
        {
            "metadata": {"name": name, "uid": f"node-{name}", "resourceVersion": "1", **more},
            "spec": {"taints": taints},
            "status": {"allocatable": {"cpu": cpu, "memory": memory}},
        },
        Node,
    )


def a_pod(
    name: str,
    *,
    node: str = "",
    cpu: str = "1",
    phase: str = "Running",
    of: str = "",
    version: int = 1,
    said: str = "",
) -> Pod:
    """A pod, perhaps of a workload, and perhaps one that the scheduler says something of."""
    condition = {"type": "PodScheduled", "status": "False", "message": said}
    owner = {"kind": "ReplicaSet", "name": of, "uid": f"uid-{of}", "controller": True}
    container = {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "shop",
                "uid": f"uid-{name}",
                "resourceVersion": str(version),
            }
            | ({"ownerReferences": [owner]} if of else {}),
            "spec": {"nodeName": node, "containers": [container]},
            "status": {"phase": phase, "conditions": [condition] if said else []},
        },
        Pod,
    )


def a_request(
    node: str,
    *,
    pods: Iterable[str] = (),
    workloads: Mapping[str, int] | None = None,
    kind: str = "ReplicaSet",
    phase: str = "Ready",
    made: str = "2026-01-01T00:00:00Z",
) -> NodeRequest:
    planned = [
        {"kind": kind, "namespace": "shop", "name": name, "pods": count}
        | {"requests": {"cpu": "1", "memory": "1Gi", "pods": "1"}}
        for name, count in (workloads or {}).items()
    ]
    return NodeRequest.model_validate(
        {
            "metadata": {"name": f"default-{node}", "creationTimestamp": made},
            "spec": {
                "pool": "default",
                "targetOffering": "kwok-cx33",
                "serverType": "cx33",
                "location": "nbg1",
                "price": "0.01",
                "pods": [{"namespace": "shop", "name": uid, "uid": uid} for uid in pods],
                "workloads": planned,
            },
            "status": {"phase": phase, "nodeName": node},
        }
    )


def a_removal(name: str) -> NodeRemovalRequest:
    spec = {
        "pool": "default",
        "nodeName": name,
        "nodeID": "1",
        "requestUID": "u",
        "reason": "Idle",
    }
    return NodeRemovalRequest.model_validate({"metadata": {"name": name}, "spec": spec})


def added(obj: T) -> Change[T]:
    return Change(ChangeKind.ADDED, key_of(obj), None, obj)


def changed(old: T, new: T) -> Change[T]:
    return Change(ChangeKind.MODIFIED, key_of(new), old, new)


def unreadable(old: T) -> Change[T]:
    return Change(ChangeKind.UNREADABLE, key_of(old), old, None)


def gone(old: T) -> Change[T]:
    return Change(ChangeKind.DELETED, key_of(old), old, None)
