"""The look at a node's pods right before its machine is deleted.

It asks the API server itself: a cache may lag behind a pod that was bound a moment ago, and a
machine that is deleted under it is a mistake that nothing mends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.scheduling.emptiness import keepers
from growth.scheduling.pod import Pod

if TYPE_CHECKING:
    from growth.kube.transport import Connection

PODS = "/api/v1/pods"
NAMED_PODS = 5
"""So many are named where they are in the way."""


class _Pods(msgspec.Struct):
    items: list[Pod]


_decode = msgspec.json.Decoder(_Pods).decode


async def pods_in_the_way(connection: Connection, node: str) -> tuple[str, ...]:
    """The pods that keep this node, as namespace/name; only the first of many."""
    query = {"fieldSelector": f"spec.nodeName={node}"}
    answer = await connection.request("GET", PODS, query=query)
    kept = keepers(_decode(answer.body).items)
    return tuple(sorted(pod.name for pod in kept)[:NAMED_PODS])
