"""Of a pool's idle nodes: which go first, and which stay because the pool keeps so many."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from growth.api.nodepool import RemovalOrder
from growth.keeping.marks import is_marked, pool_of_node, type_of_node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from growth.api.nodepool import NodePool
    from growth.api.written import ServerTypeName
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


def kept_at_least(
    ordered: Iterable[Node], pool: NodePool, cluster: Cluster, *, leaving: Collection[str]
) -> Iterator[str]:
    """The idle nodes that the pool's minima hold: the last ones in the order."""
    spare = _spare(pool, cluster, leaving)
    for node in ordered:
        server_type = type_of_node(node)
        if server_type in spare:
            spare[server_type] -= 1
            if spare[server_type] < 0:
                yield node.name


def _used(node: Node, cluster: Cluster) -> float:
    """The largest share of the node that is taken, by pods that keep nobody."""
    taken = cluster.occupancy(node.name).requested.amounts
    room = node.allocatable.amounts
    return max((taken.get(name, 0) / room[name] for name in room if room[name]), default=0.0)


def _spare(pool: NodePool, cluster: Cluster, leaving: Collection[str]) -> dict[ServerTypeName, int]:
    """How many nodes the pool can do without, of the types of which it keeps some.

    What is on its way out isn't there any more; what failed to go is there still.
    """
    least = {entry.name: entry.min for entry in pool.spec.server_types if entry.min}
    if not least:
        return {}
    there = Counter(
        type_of_node(node)
        for name, node in cluster.nodes.items()
        if pool_of_node(node) == pool.name and name not in leaving
    )
    return {name: there[name] - count for name, count in least.items()}
