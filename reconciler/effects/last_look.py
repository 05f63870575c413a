"""The last look at pods before a machine is deleted, or bought for the same pods again.

It asks the API server itself: a cache may lag behind a pod that was bound a moment ago. Deleting
the machine under a running pod can't be undone, and a machine that is bought twice costs money.
On a node with a silent kubelet no one confirms that a pod has ended, so pods whose grace period is
long over don't count there.
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
"""How many pods are named that keep a node."""


class _Pods(msgspec.Struct):
    items: list[Pod]


class _Nodes(msgspec.Struct):
    items: list[Node]


_decode = msgspec.json.Decoder(_Pods).decode
_decode_nodes = msgspec.json.Decoder(_Nodes).decode


async def pods_in_the_way(connection: Connection, node: str, now: Instant) -> tuple[Pod, ...]:
    """The pods that keep this node; if there are many, the first by name."""
    # No resourceVersion: such a list is at least as new as this moment, which one from a watch
    # cache needn't be.
    query = {"fieldSelector": f"spec.nodeName={node}"}
    answer = await connection.request("GET", PODS, query=query)
    kept = keepers(_decode(answer.body).items)
    if kept and not left_on(kept, now, node_is_ready=False) and await _is_silent(connection, node):
        return ()
    return tuple(sorted(kept, key=lambda pod: pod.name)[:NAMED_PODS])


async def check_waiting(connection: Connection, pod: PodReference) -> None:
    """Raises RetryLater unless the pod still waits for a node: then the cache has to catch up."""
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
    with suppress(NotFound):
        found = decode_pod((await connection.request("GET", path)).body)
        if found.metadata.uid == pod.uid and not found.spec.node_name:
            return
    raise RetryLater(f"the cache shows {pod.namespace}/{pod.name} as pending, but it isn't")


async def _is_silent(connection: Connection, node: str) -> bool:
    """Whether its kubelet doesn't report; False if the Node doesn't exist."""
    answer = await connection.request(
        "GET", NODES, query={"fieldSelector": f"metadata.name={node}"}
    )
    return any(not each.is_ready for each in _decode_nodes(answer.body).items)
