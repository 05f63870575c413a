"""The node that a machine will become, as the solver and the rules see it before it exists.

It has what the pool and the offering promise, without taints that are removed before it serves: its
pods will run there without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.wellknown import (
    INSTANCE_TYPE_LABEL,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    NODE_REQUEST_LABEL,
    POOL_LABEL,
    UNREGISTERED_TAINT,
)
from growth.scheduling.metadata import Metadata
from growth.scheduling.node import Node, NodeSpec, NodeStatus
from growth.scheduling.taints import NO_SCHEDULE, Taint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.nodepool import NodePool
    from growth.api.taints import PoolTaint
    from growth.scheduling.quantity import Amount
    from reconciler.providers.port import Offering

HOSTNAME_LABEL = "kubernetes.io/hostname"
UNREGISTERED = Taint(UNREGISTERED_TAINT, NO_SCHEDULE)


def node_labels(pool: NodePool, offering: Offering, *, name: str) -> Mapping[str, str]:
    """The labels of a node of this pool, whether growth or another component sets them."""
    return {
        **offering.labels,
        **pool.spec.labels,
        HOSTNAME_LABEL: name,
        POOL_LABEL: pool.name,
        NODE_REQUEST_LABEL: name,
        INSTANCE_TYPE_LABEL: offering.server_type.canonical,
        MANAGED_BY_LABEL: MANAGED_BY,
    }


def node_taints(pool: NodePool) -> tuple[Taint, ...]:
    """The taints that a node of this pool has from its first second."""
    return (UNREGISTERED, *_taints(pool.spec.startup_taints), *_taints(pool.spec.taints))


def template(pool: NodePool, offering: Offering, *, name: str) -> Node:
    """The node as it will be when it serves."""
    allocatable: dict[str, Amount] = {
        # Amounts of CPU are in thousandths.
        resource: f"{amount}m" if resource == "cpu" else amount
        for resource, amount in offering.allocatable.amounts.items()
    }
    return Node(
        metadata=Metadata(name=name, labels=dict(node_labels(pool, offering, name=name))),
        spec=NodeSpec(taints=_taints(pool.spec.taints)),
        status=NodeStatus(capacity=allocatable, allocatable=allocatable),
    )


def _taints(taints: Iterable[PoolTaint]) -> tuple[Taint, ...]:
    return tuple(Taint(taint.key, taint.effect.value, taint.value) for taint in taints)
