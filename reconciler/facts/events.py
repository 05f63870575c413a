"""Events about objects, in one form for all rooms."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from growth.api.wellknown import GROUP_VERSION
from growth.kube.events.event import Event, ObjectReference, Severity
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from reconciler.core.actions import EmitEvent

if TYPE_CHECKING:
    from growth.api.meta import CustomResource


class EventAction(StrEnum):
    """The actions of events."""

    PLANNING = "Planning"
    PROVISIONING = "Provisioning"
    REMOVAL = "Removal"
    DECIDING = "Deciding"


def event_about(
    found: CustomResource | Node | Pod | ObjectReference,
    *,
    action: EventAction,
    reason: str,
    note: str,
    severity: Severity = Severity.NORMAL,
) -> EmitEvent:
    """An event about an object; a reference stands for one that is gone."""
    about = found if isinstance(found, ObjectReference) else _reference_to(found)
    event = Event(regarding=about, reason=reason, action=action.value, note=note, severity=severity)
    return EmitEvent(event=event)


def _reference_to(found: CustomResource | Node | Pod) -> ObjectReference:
    is_ours = not isinstance(found, Node | Pod)
    return ObjectReference(
        api_version=GROUP_VERSION if is_ours else "v1",
        kind=type(found).__name__,
        name=found.metadata.name,
        namespace=found.metadata.namespace if isinstance(found, Pod) else "",
        uid=found.metadata.uid,
    )
