"""Everything that growth has bought is given back, before growth itself goes.

The pools are closed, so nothing is bought any more; a taint keeps pods from coming back; those that
are there are moved away, and the reconciler gives back what is empty, as it always does. Who runs
this is an administrator, so pods are evicted here as `kubectl drain` does it, and budgets hold.
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
"""Whose pods go with their node."""
NAMED: Final = 10


class DrainingWay(StrEnum):
    """How pods are moved away."""

    EVICT = "evict"
    DELETE = "delete"


async def close(connection: Connection) -> None:
    """Nothing is bought any more, and no pod comes to what was."""
    for pool in await list_objects(connection, POOLS):
        path = f"{POOLS}/{pool['metadata']['name']}"
        patch = {"spec": {"deletionPolicy": "Drain"}}
        await ask_patiently(connection, "PATCH", path, body=patch, content_type=MERGE_PATCH)
        await gone(connection, path)
    await change_nodes(connection, _marked)


def _marked(node: Object) -> Object | None:
    """What has to change at a node so that no pod comes to it; nothing, if it has."""
    taints = node.get("spec", {}).get("taints", [])
    if any(taint["key"] == LEAVING["key"] for taint in taints):
        return None
    return {
        "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
        "spec": {"taints": [*taints, LEAVING]},
    }


async def still_there(connection: Connection, way: DrainingWay) -> list[str]:
    """Move away what can be moved now, and tell what is left, the pods in the way first."""
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
    """Whether it runs and has to run elsewhere."""
    owners = pod["metadata"].get("ownerReferences", ())
    finished = pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}
    leaves = "deletionTimestamp" in pod["metadata"]
    return not (finished or leaves or any(owner["kind"] in STAYING for owner in owners))


async def _move(connection: Connection, pod: Object, way: DrainingWay) -> str:
    """Nothing, or why it stays."""
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
    """Whether there is something to give back."""
    async for _ in _left(connection):
        return True
    return False


async def _left(connection: Connection) -> AsyncIterator[str]:
    """Nodes; requests and removals, behind which there may be a machine without a node; pools."""
    for node in await list_objects(connection, NODES, **OURS):
        yield f"node {node['metadata']['name']}: is still there"
    for kind in ("NodeRequest", "NodeRemovalRequest", "NodePool"):
        for item in await objects_of_kind(connection, kind):
            phase = item.get("status", {}).get("phase", "")
            yield f"{kind} {item['metadata']['name']}: is still there {phase}".strip()
