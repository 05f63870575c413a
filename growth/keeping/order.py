"""The order in which idle nodes of a pool are removed, and which of them its minima keep.

A minimum exists so that pods can start at once, so only nodes that serve count for it. A node that
doesn't serve (it boots, its kubelet is silent, or its removal has failed) may never take a pod. No
serving node is removed because of it, and it is removed itself only if the pool has more nodes than
its minimum.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from growth.api.nodepool import RemovalOrder
from growth.api.noderemovalrequest import RemovalPhase
from growth.keeping.marks import is_barred, is_marked, pool_of_node, type_of_node
from growth.keeping.serving import serves

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.written import ServerTypeName
    from growth.keeping.scene import KeepingScene
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node


def in_order(idle: Iterable[Node], pool: NodePool, cluster: Cluster) -> list[Node]:
    """The order of removal: marked nodes first, then by the pool's order, then by name."""

    def oldest(node: Node) -> tuple[object, ...]:
        return not is_marked(node), node.metadata.creation_timestamp or "", node.name

    def least_useful(node: Node) -> tuple[object, ...]:
        first, age, name = oldest(node)
        return first, node.is_ready, age, _used(node, cluster), name

    match pool.spec.scale_down.order:
        case RemovalOrder.OLDEST:
            return sorted(idle, key=oldest)
        case RemovalOrder.NOT_READY_OLDEST_LEAST_USED:
            return sorted(idle, key=least_useful)


def _leaving_nodes(removals: Mapping[str, NodeRemovalRequest]) -> frozenset[str]:
    """The nodes that are being removed; a node whose removal has failed still counts as there."""
    return frozenset(
        name
        for name, removal in removals.items()
        if removal.status.phase is not RemovalPhase.REMOVAL_FAILED
    )


def kept_at_least(ordered: Iterable[Node], pool: NodePool, scene: KeepingScene) -> Iterator[str]:
    """The nodes that the pool's minima keep: the last ones in the order."""
    spares = _spares(pool, scene.cluster, _leaving_nodes(scene.removals))
    for node in ordered:
        spare = spares.get(type_of_node(node))
        if spare is not None and not spare.takes(node, pool):
            yield node.name


def _used(node: Node, cluster: Cluster) -> float:
    """The largest share of the node that is used, by pods that don't keep it (DaemonSets)."""
    taken = cluster.occupancy(node.name).requested.amounts
    room = node.allocatable.amounts
    return max((taken.get(name, 0) / room[name] for name in room if room[name]), default=0.0)


@dataclass
class _Spare:
    """How many nodes of one type the pool has above its minimum: all, and those that serve."""

    nodes: int
    serving: int

    def takes(self, node: Node, pool: NodePool) -> bool:
        """Whether this node can be removed too; if so, it is subtracted."""
        does_serve = _takes_pods(node, pool)
        if self.nodes <= 0 or (does_serve and self.serving <= 0):
            return False
        self.nodes -= 1
        self.serving -= does_serve
        return True


def _takes_pods(node: Node, pool: NodePool) -> bool:
    """Whether the node can take pods; a marked node can, because its mark is then removed."""
    return serves(node, pool) and not is_barred(node)


def _spares(
    pool: NodePool, cluster: Cluster, leaving: Collection[str]
) -> Mapping[ServerTypeName, _Spare]:
    """The spare nodes of each server type that has a minimum."""
    least = {entry.name: entry.min for entry in pool.spec.server_types if entry.min}
    if not least:
        return {}
    there = [
        node
        for name, node in cluster.nodes.items()
        if pool_of_node(node) == pool.name and name not in leaving
    ]
    nodes = Counter(type_of_node(node) for node in there)
    serving = Counter(type_of_node(node) for node in there if _takes_pods(node, pool))
    return {
        name: _Spare(nodes=nodes[name] - count, serving=serving[name] - count)
        for name, count in least.items()
    }
