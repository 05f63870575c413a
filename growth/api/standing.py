"""Where each kind stands: one pure function a kind, from its phase or counts to its conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.conditions import Condition, Standing, Verdict, conditions_of
from growth.api.noderemovalrequest import NodeRemovalRequest, RemovalPhase
from growth.api.noderequest import NodeRequest, RequestPhase

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.hetznernodeclass import HetznerNodeClass
    from growth.api.kwoknodeclass import KwokNodeClass
    from growth.api.meta import Blockage
    from growth.api.nodepool import NodePool

_REQUEST: Final = {
    RequestPhase.PENDING: Verdict(
        standing=Standing.IN_PROGRESS,
        reason="Pending",
        message="The provider is about to be asked.",
    ),
    RequestPhase.PROVISIONING: Verdict(
        standing=Standing.IN_PROGRESS,
        reason="Provisioning",
        message="The provider has accepted; the node hasn't joined yet.",
    ),
    RequestPhase.READY: Verdict(
        standing=Standing.CURRENT,
        reason="NodeReady",
        message="The node serves.",
    ),
    RequestPhase.UNMET: Verdict(
        standing=Standing.FAILED,
        reason="Unmet",
        message="The provider has none now; the demand is planned around it.",
    ),
    RequestPhase.DEPROVISIONING: Verdict(
        standing=Standing.IN_PROGRESS,
        reason="Deprovisioning",
        message="The node never served and is given back.",
    ),
}

_REMOVAL: Final = {
    RemovalPhase.PENDING: Verdict(
        standing=Standing.IN_PROGRESS,
        reason="Pending",
        message="The provider is asked as soon as the node has no pods.",
    ),
    RemovalPhase.DEPROVISIONING: Verdict(
        standing=Standing.IN_PROGRESS,
        reason="Deprovisioning",
        message="The provider was asked to delete the machine.",
    ),
    RemovalPhase.REMOVAL_FAILED: Verdict(
        standing=Standing.FAILED,
        reason="RemovalFailed",
        message="The machine may still cost money: look at it, then delete this object.",
    ),
}


def request_conditions(request: NodeRequest, now: datetime) -> tuple[Condition, ...]:
    """From the phase."""
    return _conditions(request, _REQUEST[request.status.phase], now)


def removal_conditions(removal: NodeRemovalRequest, now: datetime) -> tuple[Condition, ...]:
    """From the phase."""
    return _conditions(removal, _REMOVAL[removal.status.phase], now)


def pool_conditions(pool: NodePool, now: datetime) -> tuple[Condition, ...]:
    """Blocked, or on the way to as many nodes as are wanted, or there."""
    status = pool.status
    if status.blocked is not None:
        return _conditions(pool, _blocked(status.blocked), now)
    if status.ready < status.wanted:
        verdict = Verdict(
            standing=Standing.IN_PROGRESS,
            reason="Provisioning",
            message=f"{status.ready} of {status.wanted} nodes serve.",
        )
        return _conditions(pool, verdict, now)
    verdict = Verdict(
        standing=Standing.CURRENT, reason="AllServe", message=f"All {status.ready} nodes serve."
    )
    return _conditions(pool, verdict, now)


def node_class_conditions(
    node_class: HetznerNodeClass | KwokNodeClass, now: datetime
) -> tuple[Condition, ...]:
    """Usable, or blocked until somebody changes something."""
    blocked = node_class.status.blocked
    usable = Verdict(standing=Standing.CURRENT, reason="Usable", message="Machines can be made.")
    return _conditions(node_class, _blocked(blocked) if blocked else usable, now)


def _blocked(blockage: Blockage) -> Verdict:
    return Verdict(standing=Standing.FAILED, reason=blockage.reason, message=blockage.message)


def _conditions(
    resource: NodePool | NodeRequest | NodeRemovalRequest | HetznerNodeClass | KwokNodeClass,
    verdict: Verdict,
    now: datetime,
) -> tuple[Condition, ...]:
    return conditions_of(
        verdict,
        generation=resource.metadata.generation,
        before=resource.status.conditions,
        now=now,
    )
