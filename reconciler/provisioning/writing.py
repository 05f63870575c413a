"""What is written on a request, and said of it to people: status, history, events.

The conditions of a status follow from its phase; those of other types stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.events import Event, with_event
from growth.api.standing import conditions
from growth.api.wellknown import GROUP_VERSION, PROVIDER_CLEANUP_FINALIZER
from growth.kube.events import event as said
from growth.kube.events.event import Reference, Severity
from reconciler.actions import Delete, EmitEvent, PatchStatus, SetFinalizers, Version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.conditions import Condition
    from growth.api.meta import Resource
    from growth.api.noderequest import NodeRequest, RequestPhase
    from growth.instant import Instant
    from growth.scheduling.node import Node

KIND: Final = "NodeRequest"
ACTION: Final = "Provisioning"
LONGEST_REASON: Final = 1024
"""Of what others say, as the definition of an event in a status admits it."""


def moved(
    request: NodeRequest,
    phase: RequestPhase,
    now: Instant,
    *,
    happened: Iterable[Event],
    said: Iterable[Condition] = (),
    **changes: Any,
) -> PatchStatus:
    """The request in its next phase, with what happened and what changes with it."""
    before = request.status
    events = before.events
    for event in happened:
        events = with_event(events, event)
    news = {
        "phase": phase,
        "events": events,
        "last_transition_time": now.wall,
        "observed_generation": request.metadata.generation,
        **changes,
    }
    status = before.model_copy(update=news)
    derived = conditions(request.model_copy(update={"status": status}), now.wall)
    stands = _joined(before.conditions, (*derived, *said))
    document = status.model_copy(update={"conditions": stands}).document()
    return PatchStatus(kind=KIND, version=version_of(request), status=document)


def _joined(before: Iterable[Condition], news: tuple[Condition, ...]) -> tuple[Condition, ...]:
    types = {each.type for each in news}
    return (*(each for each in before if each.type not in types), *news)


def happened(name: str, now: Instant, *, reason: str | None = None) -> Event:
    """An entry of the request's history."""
    return Event(at=now.wall, name=name, reason=reason and reason[:LONGEST_REASON])


def is_held(resource: Resource) -> bool:
    """Whether one of our objects waits for us before it can disappear."""
    return PROVIDER_CLEANUP_FINALIZER in resource.metadata.finalizers


def let_go(resource: Resource) -> SetFinalizers:
    """Nothing hangs on the object any more."""
    held = (each for each in resource.metadata.finalizers if each != PROVIDER_CLEANUP_FINALIZER)
    return SetFinalizers(
        kind=type(resource).__name__, version=version_of(resource), finalizers=tuple(held)
    )


def deleted(request: NodeRequest) -> Delete:
    """The request has done its work, or is cancelled."""
    return Delete(kind=KIND, version=version_of(request))


def version_of(found: Resource | Node) -> Version:
    """The very state that is decided on."""
    metadata = found.metadata
    return Version(name=metadata.name, uid=metadata.uid, resource_version=metadata.resource_version)


def warned(found: Resource | Node, *, reason: str, note: str) -> EmitEvent:
    """Something that a person should know about one of our objects, or a node."""
    kind = type(found).__name__
    about = Reference(
        api_version="v1" if kind == "Node" else GROUP_VERSION,
        kind=kind,
        name=found.name,
        uid=found.metadata.uid,
    )
    event = said.Event(
        regarding=about, reason=reason, action=ACTION, note=note, severity=Severity.WARNING
    )
    return EmitEvent(event=event)
