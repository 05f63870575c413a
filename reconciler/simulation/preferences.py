"""Which of several nodes that a pod fits on the scheduler takes: its scores, where they matter.

The default profile's: the less of a node is taken the better, the more evenly of processor and
memory the better, and like pods of one controller are kept apart. Where the real scheduler draws
lots among equals, here names decide.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from growth.scheduling.resources import CPU, MEMORY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

Prefer = Callable[["Pod", "Sequence[Node]", "Cluster"], "Node"]
"""Which of the nodes that a pod fits on it gets."""
LEAST_ASKED: Final = {CPU: 100, MEMORY: 200 * 2**20}
"""What a pod counts for that asks for nothing."""
APART: Final = {"kubernetes.io/hostname": 3, "topology.kubernetes.io/zone": 5}
"""The default constraints of spreading, which only score: the key, and the skew that is allowed."""
WEIGHT_OF_SPREADING: Final = 2


def preferred_node(pod: Pod, nodes: Sequence[Node], cluster: Cluster) -> Node:
    """The node with the highest score."""
    if len(nodes) == 1:
        return nodes[0]
    found = scored(pod, nodes, cluster)
    return min(nodes, key=lambda node: (-found[node.name], node.name))


def scored(pod: Pod, nodes: Sequence[Node], cluster: Cluster) -> dict[str, int]:
    """The sum of the scores of each node."""
    spreading = _spreading(pod, nodes, cluster)
    return {
        node.name: _room(pod, node, cluster) + WEIGHT_OF_SPREADING * spreading[node.name]
        for node in nodes
    }


def _room(pod: Pod, node: Node, cluster: Cluster) -> int:
    shares = [_share(name, pod, node, cluster) for name in LEAST_ASKED]
    least_taken = sum(1.0 - share for share in shares) / len(shares)
    evenly_taken = 1.0 - abs(shares[0] - shares[1]) / 2
    return int(100 * least_taken) + int(100 * evenly_taken)


def _share(resource: str, pod: Pod, node: Node, cluster: Cluster) -> float:
    """How much of it would be taken, with the pod."""
    taken = cluster.occupancy(node.name).requested[resource]
    asked = pod.requests[resource] or LEAST_ASKED[resource]
    return min(1.0, (taken + asked) / max(1, node.allocatable[resource]))


def _spreading(pod: Pod, nodes: Sequence[Node], cluster: Cluster) -> Mapping[str, int]:
    """From 0 to 100, for each node. Pods that spread by their own word are scored like the rest."""
    raw = dict.fromkeys((node.name for node in nodes), 0.0)
    if pod.metadata.controller is None:
        return dict.fromkeys(raw, 0)
    alike = _alike(pod, cluster)
    for key, skew in APART.items():
        counts = Counter[str | None]()
        for name, count in alike.items():
            counts[cluster.nodes[name].labels.get(key)] += count
        weight = math.log(len({node.labels.get(key) for node in nodes}) + 2)
        for node in nodes:
            raw[node.name] += counts[node.labels.get(key)] * weight + skew - 1
    most, least = max(raw.values()), min(raw.values())
    return {name: int(100 * (most + least - score) / most) for name, score in raw.items()}


def _alike(pod: Pod, cluster: Cluster) -> Mapping[str, int]:
    """How many pods of its controller are on each node that has any."""
    namespace, controller = pod.metadata.namespace, pod.metadata.controller
    counts = {
        name: sum(
            other.metadata.controller == controller and not other.is_terminating
            for other in held.by_namespace.get(namespace, ())
        )
        for name, held in cluster.occupancies.items()
        if name in cluster.nodes
    }
    return {name: count for name, count in counts.items() if count}
