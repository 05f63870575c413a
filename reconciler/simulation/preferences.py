"""The scheduler's scores, which choose among several nodes that a pod fits on.

They are those of the default profile: a node is better the less of it is used, and the more evenly
CPU and memory are used, and pods of one controller are spread. Where the real scheduler chooses
randomly among equal nodes, the name decides here.
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
"""Chooses one of the nodes that a pod fits on."""
LEAST_ASKED: Final = {CPU: 100, MEMORY: 200 * 2**20}
"""The requests that count for a pod without any."""
APART: Final = {"kubernetes.io/hostname": 3, "topology.kubernetes.io/zone": 5}
"""The default spread constraints, which only score: topology keys, and their maxSkew."""
WEIGHT_OF_SPREADING: Final = 2


def preferred_node(pod: Pod, nodes: Sequence[Node], cluster: Cluster) -> Node:
    """The node with the highest score."""
    if len(nodes) == 1:
        return nodes[0]
    found = scored(pod, nodes, cluster)
    return min(nodes, key=lambda node: (-found[node.name], node.name))


def scored(pod: Pod, nodes: Sequence[Node], cluster: Cluster) -> dict[str, int]:
    """The total score of each node."""
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
    """The share of a resource that is used with the pod."""
    taken = cluster.occupancy(node.name).requested[resource]
    asked = pod.requests[resource] or LEAST_ASKED[resource]
    return min(1.0, (taken + asked) / max(1, node.allocatable[resource]))


def _spreading(pod: Pod, nodes: Sequence[Node], cluster: Cluster) -> Mapping[str, int]:
    """The spread score of each node, from 0 to 100; a pod's own constraints are ignored here."""
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
    """The number of pods of the same controller on each node, without zeros."""
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
