"""The removal that is written before anything is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.meta import ObjectMeta
from growth.api.noderemovalrequest import NodeRemovalRequest, NodeRemovalRequestSpec
from growth.api.wellknown import PROVIDER_CLEANUP_FINALIZER
from reconciler.facts.ownership import owned_by

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.api.removal_reason import RemovalReason
    from reconciler.providers.port import Machine


def removal_of(machine: Machine, *, pool: NodePool, reason: RemovalReason) -> NodeRemovalRequest:
    """The intent to give a listed machine back; its pool owns it."""
    return NodeRemovalRequest(
        metadata=ObjectMeta(
            name=machine.name,
            # Not the request: it is deleted long before, and the garbage collector would take the
            # removal with it.
            owner_references=(owned_by(pool),),
            finalizers=(PROVIDER_CLEANUP_FINALIZER,),
        ),
        spec=NodeRemovalRequestSpec(
            pool=pool.name,
            node_name=machine.name,
            node_id=machine.machine_id,
            request_uid=machine.request_uid,
            reason=reason,
        ),
    )
