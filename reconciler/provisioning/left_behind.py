"""Nodes of a pool that is deleted with `Retain` stay, without the taints that keep pods away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.nodepool import DeletionPolicy
from growth.api.wellknown import UNREGISTERED_TAINT
from reconciler.core.actions import Sequence, machine
from reconciler.facts.marks import is_marked, unmarked
from reconciler.facts.ownership import pool_of_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.core.world import World

OURS: Final = frozenset({UNREGISTERED_TAINT})


def stripped(world: World) -> Iterator[Sequence]:
    """Removes growth's marks from each such node that still has one."""
    for pool in world.pools.values():
        if _leaves_its_nodes(pool):
            yield from _stripped(pool, world)


def bears_our_mark(node: Node) -> bool:
    """Whether growth keeps pods off a node because it starts or is about to go."""
    return is_marked(node) or not node.taint_keys.isdisjoint(OURS)


def _leaves_its_nodes(pool: NodePool) -> bool:
    is_going = pool.metadata.deletion_timestamp is not None
    return is_going and pool.spec.deletion_policy is DeletionPolicy.RETAIN


def _stripped(pool: NodePool, world: World) -> Iterator[Sequence]:
    for node in world.cluster.ordered_nodes:
        subject = machine(node.name)
        is_own = pool_of_node(node) == pool.name
        if is_own and bears_our_mark(node) and world.is_free(subject):
            free = unmarked(node)
            taints = tuple(taint for taint in free.taints or () if taint.key not in OURS)
            step = msgspec.structs.replace(free, taints=taints)
            yield Sequence(subject=subject, steps=(step,), why="its deleted pool retains it")
