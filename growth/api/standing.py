"""Where each kind stands: from its phase, its counts or what blocks it to its conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from growth.api.conditions import Condition, Standing, Verdict, conditions_of
from growth.api.hetznernodeclass import HetznerNodeClass, HetznerNodeClassStatus
from growth.api.kwoknodeclass import KwokNodeClass, KwokNodeClassStatus
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

AnyResource = NodePool | NodeRequest | NodeRemovalRequest | HetznerNodeClass | KwokNodeClass
AnyStatus = (
    NodePoolStatus
    | NodeRequestStatus
    | NodeRemovalRequestStatus
    | HetznerNodeClassStatus
    | KwokNodeClassStatus
)

_REQUEST: Final = {
    RequestPhase.PENDING: Verdict(
        Standing.IN_PROGRESS, "Pending", "The provider is about to be asked."
    ),
    RequestPhase.PROVISIONING: Verdict(
        Standing.IN_PROGRESS,
        "Provisioning",
        "The provider has accepted; the node hasn't joined yet.",
    ),
    RequestPhase.READY: Verdict(Standing.CURRENT, "NodeReady", "The node is ready."),
    RequestPhase.UNMET: Verdict(
        Standing.FAILED,
        "Unmet",
        "The provider has none now; its pods are planned without it.",
    ),
    RequestPhase.DEPROVISIONING: Verdict(
        Standing.IN_PROGRESS,
        "Deprovisioning",
        "The node was never ready; its machine goes.",
    ),
}

_USABLE: Final = Verdict(Standing.CURRENT, "Usable", "Machines can be made.")

_REMOVAL: Final = {
    RemovalPhase.PENDING: Verdict(
        Standing.IN_PROGRESS, "Pending", "The provider is asked as soon as the node has no pods."
    ),
    RemovalPhase.DEPROVISIONING: Verdict(
        Standing.IN_PROGRESS, "Deprovisioning", "The provider was asked to delete the machine."
    ),
    RemovalPhase.REMOVAL_FAILED: Verdict(
        Standing.FAILED,
        "RemovalFailed",
        "The machine may still cost money: look at it, then delete this object.",
    ),
}


def conditions(resource: AnyResource, now: datetime) -> tuple[Condition, ...]:
    """The conditions that follow from the object's status, for its next status."""
    return conditions_of(
        verdict(resource.status),
        generation=resource.metadata.generation,
        before=resource.status.conditions,
        now=now,
    )


def verdict(status: AnyStatus) -> Verdict:
    """Where an object with this status stands."""
    match status:
        case NodePoolStatus():
            return _pool(status)
        case NodeRequestStatus():
            return _REQUEST[status.phase]
        case NodeRemovalRequestStatus():
            return _REMOVAL[status.phase]
        case HetznerNodeClassStatus() | KwokNodeClassStatus():
            return _blocked(status.blocked) if status.blocked else _USABLE
        case _:
            assert_never(status)


def _pool(status: NodePoolStatus) -> Verdict:
    if status.blocked is not None:
        return _blocked(status.blocked)
    if status.ready < status.wanted:
        message = f"{status.ready} of {status.wanted} nodes are ready."
        return Verdict(Standing.IN_PROGRESS, "Provisioning", message)
    message = f"All {status.ready} nodes are ready."
    return Verdict(Standing.CURRENT, "AllServe", message)


def _blocked(blockage: Blockage) -> Verdict:
    return Verdict(Standing.FAILED, blockage.reason, blockage.message)
