"""What is written on a removal, and said of it to people: status, history, events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.events import RequestEvent, with_event
from growth.api.standing import conditions
from growth.api.wellknown import GROUP_VERSION
from growth.kube.events import event as said
from growth.kube.events.event import ObjectReference, Severity
from reconciler.core.actions import Delete, EmitEvent, PatchStatus, version_of

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node

KIND: Final = "NodeRemovalRequest"
NODES: Final = "nodes"
REQUESTED: Final = "Deletion requested"
FAILED: Final = "Deletion failed"
GAVE_UP: Final = "Removal failed"
ACTION: Final = "Removal"


def patched(
    removal: NodeRemovalRequest, now: Instant, *, event: str, reason: str | None, **changes: Any
) -> PatchStatus:
    """The removal's next status: what happened, and what changes with it."""
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
    """The end of the Node of a machine that is gone."""
    return Delete(kind=NODES, version=version_of(node))


def said_of_removal(
    removal: NodeRemovalRequest, *, reason: str, note: str, severity: Severity = Severity.NORMAL
) -> EmitEvent:
    """Something to know about a removal."""
    about = ObjectReference(
        api_version=GROUP_VERSION, kind=KIND, name=removal.name, uid=removal.metadata.uid
    )
    return _said(about, reason=reason, note=note, severity=severity)


def said_of_node(
    name: str, *, uid: str, reason: str, note: str, severity: Severity = Severity.NORMAL
) -> EmitEvent:
    """Something to know about a node."""
    about = ObjectReference(api_version="v1", kind="Node", name=name, uid=uid)
    return _said(about, reason=reason, note=note, severity=severity)


def _said(about: ObjectReference, *, reason: str, note: str, severity: Severity) -> EmitEvent:
    return EmitEvent(
        event=said.Event(
            regarding=about, reason=reason, action=ACTION, note=note, severity=severity
        )
    )
