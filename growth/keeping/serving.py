"""Whether a node serves, for planning and for what people see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.wellknown import UNINITIALIZED_TAINT, UNREGISTERED_TAINT
from growth.keeping.believing import UNBELIEVED
from growth.keeping.marks import OF_THE_CONTROL_PLANE

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node

_BEFORE_IT_SERVES: Final = (
    UNREGISTERED_TAINT,
    # On a Node that comes before its record. A swap asked too early whether pods have room there.
    f"{UNBELIEVED}{UNREGISTERED_TAINT}",
    *OF_THE_CONTROL_PLANE,
    UNINITIALIZED_TAINT,
)


def serves(node: Node, pool: NodePool | None) -> bool:
    """Whether the scheduler can place ordinary pods on the node; not if it is cordoned."""
    if not node.is_ready or node.spec.unschedulable:
        return False
    return not node.taint_keys or node.taint_keys.isdisjoint(passing_taints(pool))


def passing_taints(pool: NodePool | None) -> frozenset[str]:
    """The keys of the taints that a node of this pool has only until it serves."""
    own = (taint.key for taint in pool.spec.startup_taints) if pool is not None else ()
    return frozenset((*_BEFORE_IT_SERVES, *own))
