"""The simulated world's scheduler with our extender: its real scores, at its weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from extender.scoring import scores
from growth.api.wellknown import SCALE_DOWN_TAINT
from growth.scheduling.resources import CPU, MEMORY
from reconciler.simulation.preferences import scored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

WEIGHT: Final = 100
"""The value of one point: the extender's weight, on the scheduler's scale."""


class Ranking:
    """Which node the scheduler chooses with the extender."""

    def __init__(self, requests: Callable[[], Iterable[NodeRequest]]) -> None:
        self._requests = requests

    def __call__(self, pod: Pod, nodes: Sequence[Node], cluster: Cluster) -> Node:
        """The node with the highest sum of both scores."""
        if len(nodes) == 1:
            return nodes[0]
        own = scored(pod, nodes, cluster)
        ranked = scores(
            own,
            planned=self._planned(pod),
            fullness={node.name: _fullness(node, cluster) for node in nodes},
            leaving={node.name for node in nodes if _is_marked(node)},
        )
        return min(nodes, key=lambda n: (-WEIGHT * ranked[n.name] - own[n.name], n.name))

    def _planned(self, pod: Pod) -> str:
        made = [
            request.node
            for request in self._requests()
            if any(each.uid == pod.metadata.uid for each in request.spec.pods)
        ]
        return made[-1] if made else ""


def _fullness(node: Node, cluster: Cluster) -> float:
    taken = cluster.occupancy(node.name).requested
    has = node.allocatable
    return max((taken[name] / has[name] for name in (CPU, MEMORY) if has[name]), default=0.0)


def _is_marked(node: Node) -> bool:
    return any(taint.key == SCALE_DOWN_TAINT for taint in node.spec.taints)
