"""Gives back all machines before growth is uninstalled.

The pools are deleted, so nothing more is bought. A taint keeps pods from returning, the pods are
evicted, and the reconciler removes empty nodes as usual. An administrator runs this, so pods are
evicted as with `kubectl drain`, within their disruption budgets.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, assert_never

from growth.api.nodepool import NodePool
from growth.api.wellknown import LEAVING_TAINT
from growth.installation.asking import ask_patiently, list_objects
from growth.installation.removing import (
    NODES,
    OURS,
    change_nodes,
    gone,
    objects_of_kind,
)
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import BudgetExhausted, NotFound, Overloaded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.installation.shipped import Object
    from growth.kube.transport import Connection

POOLS: Final = NodePool.collection()
LEAVING: Final = {"key": LEAVING_TAINT, "effect": "NoSchedule"}
STAYING: Final = frozenset({"DaemonSet", "Node"})
"""The owners of pods that aren't evicted."""
NAMED: Final = 10


class DrainingWay(StrEnum):
    """How pods are removed from nodes."""

    EVICT = "evict"
    DELETE = "delete"


async def close(connection: Connection) -> None:
    """Stop all purchases, and keep pods off existing nodes."""
    for pool in await list_objects(connection, POOLS):
        path = f"{POOLS}/{pool['metadata']['name']}"
        patch = {"spec": {"deletionPolicy": "Drain"}}
        await ask_patiently(connection, "PATCH", path, body=patch, content_type=MERGE_PATCH)
        await gone(connection, path)
    await change_nodes(connection, _marked)


def _marked(node: Object) -> Object | None:
    """The patch that keeps pods off a node; None if it isn't needed."""
    taints = node.get("spec", {}).get("taints", [])
    if any(taint["key"] == LEAVING["key"] for taint in taints):
        return None
    return {
        "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
        "spec": {"taints": [*taints, LEAVING]},
    }


async def still_there(connection: Connection, way: DrainingWay) -> list[str]:
    """Remove the pods that can be removed now; returns what is left, starting with pods."""
    pods = [line async for line in _moved(connection, way)]
    found = pods + [line async for line in _left(connection)]
    rest = len(found) - NAMED
    return found[:NAMED] + ([f"and {rest} more"] if rest > 0 else [])


async def _moved(connection: Connection, way: DrainingWay) -> AsyncIterator[str]:
    for node in await list_objects(connection, NODES, **OURS):
        selector = {"fieldSelector": f"spec.nodeName={node['metadata']['name']}"}
        for pod in await list_objects(connection, "/api/v1/pods", **selector):
            if is_in_the_way(pod):
                kept = await _move(connection, pod, way)
                if kept:
                    yield kept


def is_in_the_way(pod: Object) -> bool:
    """Whether the pod must be removed from its node."""
    owners = pod["metadata"].get("ownerReferences", ())
    finished = pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}
    leaves = "deletionTimestamp" in pod["metadata"]
    return not (finished or leaves or any(owner["kind"] in STAYING for owner in owners))


async def _move(connection: Connection, pod: Object, way: DrainingWay) -> str:
    """Remove a pod; returns why it stays, or ""."""
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"
    match way:
        case DrainingWay.DELETE:
            await gone(connection, path)
            return ""
        case DrainingWay.EVICT:
            return await _evict(connection, pod, path)
        case _:
            assert_never(way)


async def _evict(connection: Connection, pod: Object, path: str) -> str:
    metadata = pod["metadata"]
    body: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
    }
    try:
        await connection.request("POST", f"{path}/eviction", body=body)
    except NotFound:
        return ""
    except (BudgetExhausted, Overloaded) as error:
        return f"pod {metadata['namespace']}/{metadata['name']}: {error.message}"
    return ""


async def is_anything_left(connection: Connection) -> bool:
    """Whether there is anything left to give back."""
    async for _ in _left(connection):
        return True
    return False


async def _left(connection: Connection) -> AsyncIterator[str]:
    """What is left: nodes, pools, and requests and removals, which may have a machine."""
    for node in await list_objects(connection, NODES, **OURS):
        yield f"node {node['metadata']['name']}: still exists"
    for kind in ("NodeRequest", "NodeRemovalRequest", "NodePool"):
        for item in await objects_of_kind(connection, kind):
            phase = item.get("status", {}).get("phase")
            detail = f" ({phase})" if phase else ""
            yield f"{kind} {item['metadata']['name']}: still exists{detail}"
