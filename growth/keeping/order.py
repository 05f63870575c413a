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
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.written import ServerTypeName
    from growth.keeping.scene import KeepingScene
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node


def in_order(idle: Iterable[Node], pool: NodePool, cluster: Cluster) -> list[Node]:
    """The order of removal: marked nodes first, then by the pool's order, then by name."""

    def oldest(node: Node) -> tuple[object, ...]:
        # Otherwise marks would move from node to node whenever another one becomes idle.
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
    """The nodes of these that the floors of the pool's size hold: the last ones in the order."""
    spares = _spares(pool, scene)
    for node in ordered:
        own = [spare for spare in spares if type_of_node(node) in spare.types]
        if all(spare.can_lose(node, pool) for spare in own):
            for spare in own:
                spare.lose(node, pool)
        else:
            yield node.name


def _used(node: Node, cluster: Cluster) -> float:
    """The largest share of the node that is used, by pods that don't keep it (DaemonSets)."""
    taken = cluster.occupancy(node.name).requested.amounts
    room = node.allocatable.amounts
    return max((taken.get(name, 0) / room[name] for name in room if room[name]), default=0.0)


@dataclass
class _Spare:
    """How many nodes of one floor a pool can do without."""

    types: frozenset[ServerTypeName]
    nodes: int
    serving: int

    def can_lose(self, node: Node, pool: NodePool) -> bool:
        """Whether enough are left without this one."""
        return self.nodes > 0 and (self.serving > 0 or not _takes_pods(node, pool))

    def lose(self, node: Node, pool: NodePool) -> None:
        """This one goes."""
        self.nodes -= 1
        self.serving -= _takes_pods(node, pool)


def _takes_pods(node: Node, pool: NodePool) -> bool:
    """Whether the node can take pods; a marked node can, because its mark is then removed."""
    return serves(node, pool) and not is_barred(node)


def _spares(pool: NodePool, scene: KeepingScene) -> list[_Spare]:
    """What the pool can do without, of each floor."""
    size = scene.size_of(pool)
    if not size.floors:
        return []
    leaving = _leaving_nodes(scene.removals)
    there = [
        node
        for name, node in scene.cluster.nodes.items()
        if pool_of_node(node) == pool.name and name not in leaving and name not in size.apart
    ]
    nodes = Counter(type_of_node(node) for node in there)
    serving = Counter(type_of_node(node) for node in there if _takes_pods(node, pool))
    return [
        _Spare(
            types=floor.types,
            nodes=sum(nodes[each] for each in floor.types) - floor.count,
            serving=sum(serving[each] for each in floor.types) - floor.count,
        )
        for floor in size.floors
    ]
