"""A pool is deleted: what it has bought is dealt with before the object goes.

Nothing is bought for it any more, and what is on its way is given back. `Retain` leaves its nodes
to whoever wants them, without our taints. `Drain` waits until they are given back, and says for
which of them it waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.conditions import Truth
from growth.api.nodepool import DeletionPolicy
from growth.api.wellknown import UNREGISTERED_TAINT
from reconciler.core.actions import Sequence, machine
from reconciler.core.step import WAIT, Step
from reconciler.facts.finalizers import has_our_finalizer, let_go
from reconciler.facts.marks import is_cordoned_by_a_person, is_marked, unmarked
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.pool_notices import patched_with, pool_condition
from reconciler.provisioning.memory import FINISHED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.provisioning.look import ProvisioningLook

CONDITION: Final = "Deleting"
NAMED: Final = 5
OURS: Final = frozenset({UNREGISTERED_TAINT})


def step_of_leaving_pool(pool: NodePool, look: ProvisioningLook) -> Step:
    """The next step with a pool that somebody has deleted."""
    if not has_our_finalizer(pool):
        return WAIT
    waits_for = list(_waits_for(pool, look))
    if not waits_for:
        return Step(actions=(let_go(pool),), why="nothing of the pool is left to look after")
    return _told(pool, look, f"Waits for {_some(waits_for)}.")


def stripped(pool: NodePool, look: ProvisioningLook) -> Iterator[Sequence]:
    """Nodes that stay when their pool goes, without what would keep pods away for ever."""
    is_going = pool.metadata.deletion_timestamp is not None
    if not is_going or pool.spec.deletion_policy is not DeletionPolicy.RETAIN:
        return
    for node in _nodes(pool, look):
        subject = machine(node.name)
        if _bears_a_mark(node) and look.world.is_free(subject):
            free = unmarked(node)
            taints = tuple(taint for taint in free.taints or () if taint.key not in OURS)
            step = msgspec.structs.replace(free, taints=taints)
            yield Sequence(subject=subject, steps=(step,), why="its pool leaves it behind")


def _waits_for(pool: NodePool, look: ProvisioningLook) -> Iterator[str]:
    world = look.world
    for name, request in sorted(world.requests.items()):
        if request.spec.pool == pool.name and request.status.phase not in FINISHED:
            yield f"request {name}"
    for name, removal in sorted(world.removals.items()):
        if removal.spec.pool == pool.name:
            yield f"removal {name}"
    for node in _nodes(pool, look):
        if pool.spec.deletion_policy is DeletionPolicy.DRAIN:
            is_theirs = is_cordoned_by_a_person(node)
            yield f"node {node.name}" + (" that a person has cordoned" if is_theirs else "")
        elif _bears_a_mark(node):
            yield f"the marks of node {node.name}"


def _bears_a_mark(node: Node) -> bool:
    return is_marked(node) or not node.taint_keys.isdisjoint(OURS)


def _nodes(pool: NodePool, look: ProvisioningLook) -> Iterator[Node]:
    nodes = look.world.cluster.nodes
    return (node for _, node in sorted(nodes.items()) if pool_of_node(node) == pool.name)


def _some(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _told(pool: NodePool, look: ProvisioningLook, message: str) -> Step:
    before = next((each for each in pool.status.conditions if each.type == CONDITION), None)
    if before is not None and before.message == message:
        return WAIT
    wanted = pool_condition(
        pool,
        look.now,
        condition=CONDITION,
        truth=Truth.TRUE,
        reason=pool.spec.deletion_policy.value,
        message=message[:1024],
    )
    return Step(actions=(patched_with(pool, wanted),), why=message)
