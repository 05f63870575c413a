"""A pool that is deleted stays until its machines are dealt with.

growth buys nothing for it any more, and gives back machines on their way. With `Drain` the pool
waits until its nodes are given back, with `Retain` until they have no marks of growth. The status
names the objects that the pool waits for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.conditions import Truth, condition_of_type
from growth.api.nodepool import DeletionPolicy
from reconciler.core.actions import machine
from reconciler.facts.marks import is_cordoned_by_a_person
from reconciler.facts.ownership import pool_of_node
from reconciler.pools.saying import stated_now
from reconciler.providers.port import ClassKey
from reconciler.provisioning.left_behind import bears_our_mark
from reconciler.provisioning.memory import FINISHED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.api.noderecord import NodeRecord
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World

CONDITION: Final = "Deleting"
NAMED: Final = 5
LONGEST: Final = 1024
"""Characters of a condition's message."""


def has_left(pool: NodePool, world: World) -> bool:
    """Whether a deleted pool has nothing left to clean up."""
    return next(_waits_for(pool, world), None) is None


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write, if the pool waits for something else than its status says."""
    if pool.metadata.deletion_timestamp is None:
        return None
    message = f"Waiting for {_some(list(_waits_for(pool, world)))}."[:LONGEST]
    known = condition_of_type(pool.status.conditions, CONDITION)
    if known is not None and known.message == message:
        return None
    reason = pool.spec.deletion_policy.value
    return stated_now(pool, now, name=CONDITION, truth=Truth.TRUE, reason=reason, message=message)


def _waits_for(pool: NodePool, world: World) -> Iterator[str]:
    for name, request in sorted(world.requests.items()):
        if request.spec.pool == pool.name and request.status.phase not in FINISHED:
            yield f"request {name}"
    for name, removal in sorted(world.removals.items()):
        if removal.spec.pool == pool.name:
            yield f"removal {name}"
    if pool.spec.deletion_policy is DeletionPolicy.DRAIN:
        yield from (f"machine {name}, whose Node is gone" for name in _without_node(pool, world))
    for node in _nodes(pool, world):
        if pool.spec.deletion_policy is DeletionPolicy.DRAIN:
            is_theirs = is_cordoned_by_a_person(node)
            yield f"node {node.name}" + (" (cordoned by a person)" if is_theirs else "")
        # A mark may be on its way: a node that was idle is written while its pool is deleted.
        elif bears_our_mark(node) or machine(node.name) in world.busy:
            yield f"node {node.name} to lose growth's taints"


def _without_node(pool: NodePool, world: World) -> Iterator[str]:
    """Machines whose Node somebody has deleted. They are orphans, which only pools give back."""
    for name, record in sorted(world.records.items()):
        is_own = record.spec.pool == pool.name and name not in world.cluster.nodes
        if is_own and name not in world.removals and _may_be_there(record, world):
            yield name


def _may_be_there(record: NodeRecord, world: World) -> bool:
    """Whether the last listing shows the machine, or there is none."""
    reference = record.spec.node_class_ref
    sight = world.clouds.get(ClassKey(reference.kind, reference.name))
    listing = None if sight is None else sight.listing
    return listing is None or record.spec.node_id in listing.by_id


def _nodes(pool: NodePool, world: World) -> Iterator[Node]:
    return (node for node in world.cluster.ordered_nodes if pool_of_node(node) == pool.name)


def _some(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
