"""Where each kind stands: from its phase, its counts or what blocks it to its conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from growth.api.conditions import Condition, ObjectStanding, ObjectVerdict, conditions_of
from growth.api.nodeclass import NodeClass, NodeClassStatus
from growth.api.nodepool import NodePool
from growth.api.nodepool_status import NodePoolStatus
from growth.api.noderemovalrequest import (
    NodeRemovalRequest,
    NodeRemovalRequestStatus,
    RemovalPhase,
)
from growth.api.noderequest import NodeRequest, NodeRequestStatus, RequestPhase

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.meta import Blockage

AnyResource = NodePool | NodeRequest | NodeRemovalRequest | NodeClass
AnyStatus = NodePoolStatus | NodeRequestStatus | NodeRemovalRequestStatus | NodeClassStatus

_REQUEST: Final = {
    RequestPhase.PENDING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS, "Pending", "The provider is about to be asked."
    ),
    RequestPhase.PROVISIONING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Provisioning",
        "The provider has accepted; the node hasn't joined yet.",
    ),
    RequestPhase.READY: ObjectVerdict(ObjectStanding.CURRENT, "NodeReady", "The node is ready."),
    RequestPhase.UNMET: ObjectVerdict(
        ObjectStanding.FAILED,
        "Unmet",
        "The provider has none now; its pods are planned without it.",
    ),
    RequestPhase.DEPROVISIONING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Deprovisioning",
        "The node was never ready; its machine goes.",
    ),
}

_USABLE: Final = ObjectVerdict(ObjectStanding.CURRENT, "Usable", "Machines can be made.")

_REMOVAL: Final = {
    RemovalPhase.PENDING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Pending",
        "The provider is asked as soon as the node has no pods.",
    ),
    RemovalPhase.DEPROVISIONING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Deprovisioning",
        "The provider was asked to delete the machine.",
    ),
    RemovalPhase.REMOVAL_FAILED: ObjectVerdict(
        ObjectStanding.FAILED,
        "RemovalFailed",
        "The machine may still cost money: look at it, then delete this object.",
    ),
}


def conditions(resource: AnyResource, now: datetime) -> tuple[Condition, ...]:
    """The conditions that follow from the object's status, for its next status."""
    return conditions_of(
        object_verdict(resource.status),
        generation=resource.metadata.generation,
        before=resource.status.conditions,
        now=now,
    )


def object_verdict(status: AnyStatus) -> ObjectVerdict:
    """Where an object with this status stands."""
    match status:
        case NodePoolStatus():
            return _pool(status)
        case NodeRequestStatus():
            return _REQUEST[status.phase]
        case NodeRemovalRequestStatus():
            return _REMOVAL[status.phase]
        case NodeClassStatus():
            return _blocked(status.blocked) if status.blocked else _USABLE
        case _:
            assert_never(status)


def _pool(status: NodePoolStatus) -> ObjectVerdict:
    if status.blocked is not None:
        return _blocked(status.blocked)
    if status.ready < status.wanted:
        message = f"{status.ready} of {status.wanted} nodes are ready."
        return ObjectVerdict(ObjectStanding.IN_PROGRESS, "Provisioning", message)
    message = f"All {status.ready} nodes are ready."
    return ObjectVerdict(ObjectStanding.CURRENT, "AllServe", message)


def _blocked(blockage: Blockage) -> ObjectVerdict:
    return ObjectVerdict(ObjectStanding.FAILED, blockage.reason, blockage.message)
