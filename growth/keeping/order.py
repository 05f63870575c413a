"""Of a pool's idle nodes: which go first, and which stay because the pool keeps so many.

What a pool keeps is there to take pods at once, so a minimum is kept by nodes that serve. One that
doesn't (it boots, its kubelet is silent, or its removal has failed) may never take a pod: no node
that serves goes because of it, and it goes itself only where the pool has more than it keeps.
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
    """Who goes first: what is marked already, then by the pool's order; names decide last."""

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
    """The nodes that are on their way out; what failed to go is there still."""
    return frozenset(
        name
        for name, removal in removals.items()
        if removal.status.phase is not RemovalPhase.REMOVAL_FAILED
    )


def kept_at_least(ordered: Iterable[Node], pool: NodePool, scene: KeepingScene) -> Iterator[str]:
    """The nodes of these that the pool's minima hold: the last ones in the order."""
    spares = _spares(pool, scene.cluster, _leaving_nodes(scene.removals))
    for node in ordered:
        spare = spares.get(type_of_node(node))
        if spare is not None and not spare.takes(node, pool):
            yield node.name


def _used(node: Node, cluster: Cluster) -> float:
    """The largest share of the node that is taken, by pods that keep nobody."""
    taken = cluster.occupancy(node.name).requested.amounts
    room = node.allocatable.amounts
    return max((taken.get(name, 0) / room[name] for name in room if room[name]), default=0.0)


@dataclass
class _Spare:
    """How many nodes of one type a pool can do without."""

    nodes: int
    serving: int

    def takes(self, node: Node, pool: NodePool) -> bool:
        """Whether it can do without this one, too, which is gone then."""
        does_serve = _takes_pods(node, pool)
        if self.nodes <= 0 or (does_serve and self.serving <= 0):
            return False
        self.nodes -= 1
        self.serving -= does_serve
        return True


def _takes_pods(node: Node, pool: NodePool) -> bool:
    """Whether a pod can be placed on it: a mark that it is about to go is taken off for one."""
    return serves(node, pool) and not is_barred(node)


def _spares(
    pool: NodePool, cluster: Cluster, leaving: Collection[str]
) -> Mapping[ServerTypeName, _Spare]:
    """What the pool can do without, of the types of which it keeps some."""
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
