"""The look at pods right before a machine is deleted under them, or bought for them once more.

It asks the API server itself: a cache may lag behind a pod that was bound a moment ago, and a
machine that is deleted under it is a mistake that nothing mends, as one that is bought twice is one
that costs. On a node whose kubelet is silent
nobody confirms the end of a pod: one that was to be gone long ago is in nobody's way there.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from growth.errors import RetryLater
from growth.kube.errors import NotFound
from growth.scheduling.emptiness import keepers, left_on
from growth.scheduling.node import Node
from growth.scheduling.objects import decode_pod
from growth.scheduling.pod import Pod

if TYPE_CHECKING:
    from growth.api.meta import PodReference
    from growth.instant import Instant
    from growth.kube.transport import Connection

PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"
NAMED_PODS = 5
"""So many are named where they are in the way."""


class _Pods(msgspec.Struct):
    items: list[Pod]


class _Nodes(msgspec.Struct):
    items: list[Node]


_decode = msgspec.json.Decoder(_Pods).decode
_decode_nodes = msgspec.json.Decoder(_Nodes).decode


async def pods_in_the_way(connection: Connection, node: str, now: Instant) -> tuple[Pod, ...]:
    """The pods that keep this node; only the first of many, by their names."""
    query = {"fieldSelector": f"spec.nodeName={node}"}
    answer = await connection.request("GET", PODS, query=query)
    kept = keepers(_decode(answer.body).items)
    if kept and not left_on(kept, now, node_is_ready=False) and await _is_silent(connection, node):
        return ()
    return tuple(sorted(kept, key=lambda pod: pod.name)[:NAMED_PODS])


async def check_waiting(connection: Connection, pod: PodReference) -> None:
    """The pod is there and has no node; else it isn't bought for until the cache has caught up."""
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
    with suppress(NotFound):
        found = decode_pod((await connection.request("GET", path)).body)
        if found.metadata.uid == pod.uid and not found.spec.node_name:
            return
    raise RetryLater(f"{pod.namespace}/{pod.name} waits no longer, but the cache says so")


async def _is_silent(connection: Connection, node: str) -> bool:
    """Whether its kubelet doesn't report; of a node that isn't there nothing is known."""
    answer = await connection.request(
        "GET", NODES, query={"fieldSelector": f"metadata.name={node}"}
    )
    return any(not each.is_ready for each in _decode_nodes(answer.body).items)
