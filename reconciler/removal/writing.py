"""How the status, history and events of a removal are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.events import RequestEvent, with_event
from growth.api.standing import conditions
from growth.kube.events.event import Severity
from reconciler.core.actions import Delete, PatchStatus, version_of
from reconciler.facts.events import EventAction, event_about

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.kube.events.event import ObjectReference
    from growth.scheduling.node import Node
    from reconciler.core.actions import EmitEvent

KIND: Final = "NodeRemovalRequest"
NODES: Final = "nodes"
REQUESTED: Final = "Deletion requested"
FAILED: Final = "Deletion failed"
GAVE_UP: Final = "Removal failed"


def patched(
    removal: NodeRemovalRequest, now: Instant, *, event: str, reason: str | None, **changes: Any
) -> PatchStatus:
    """The removal's next status, with a new entry in its history."""
    happened = RequestEvent(at=now.wall, name=event, reason=reason or None)
    before = removal.status
    status = before.model_copy(
        update={
            "events": with_event(before.events, happened),
            "observed_generation": removal.metadata.generation,
            **changes,
        }
    )
    if status.phase is not before.phase:
        status = status.model_copy(update={"last_transition_time": now.wall})
    stands = conditions(removal.model_copy(update={"status": status}), now.wall)
    document = status.model_copy(update={"conditions": stands}).document()
    return PatchStatus(kind=KIND, version=version_of(removal), status=document)


def delete_removal(removal: NodeRemovalRequest) -> Delete:
    """The removal has done its work, or is cancelled."""
    return Delete(kind=KIND, version=version_of(removal))


def delete_node(node: Node) -> Delete:
    """Deletes the Node of a machine that is gone."""
    return Delete(kind=NODES, version=version_of(node))


def said_of(
    found: NodeRemovalRequest | Node | ObjectReference,
    *,
    reason: str,
    note: str,
    severity: Severity = Severity.NORMAL,
) -> EmitEvent:
    """An event about a removal or its node."""
    return event_about(
        found, action=EventAction.REMOVAL, reason=reason, note=note, severity=severity
    )
