"""How the status, history and events of a request are written.

Conditions are derived from the phase; those of other types stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.conditions import joined_conditions
from growth.api.events import RequestEvent, with_event
from growth.api.standing import conditions
from growth.kube.events.event import Severity
from reconciler.core.actions import Delete, PatchStatus, version_of
from reconciler.facts.events import EventAction, event_about

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.conditions import Condition
    from growth.api.meta import CustomResource
    from growth.api.noderequest import NodeRequest, RequestPhase
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.actions import EmitEvent

KIND: Final = "NodeRequest"
LONGEST_REASON: Final = 1024
"""The most characters that the definition allows in a history entry."""


def moved(
    request: NodeRequest,
    phase: RequestPhase,
    now: Instant,
    *,
    happened: Iterable[RequestEvent],
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
    stands = joined_conditions(before.conditions, *derived, *said)
    document = status.model_copy(update={"conditions": stands}).document()
    return PatchStatus(kind=KIND, version=version_of(request), status=document)


def happened(name: str, now: Instant, *, reason: str | None = None) -> RequestEvent:
    """An entry of the request's history."""
    return RequestEvent(at=now.wall, name=name, reason=reason and reason[:LONGEST_REASON])


def delete_request(request: NodeRequest) -> Delete:
    """The request has done its work, or is cancelled."""
    return Delete(kind=KIND, version=version_of(request))


def warned(found: CustomResource | Node, *, reason: str, note: str) -> EmitEvent:
    """A warning event about one of growth's objects, or a node."""
    return event_about(
        found,
        action=EventAction.PROVISIONING,
        reason=reason,
        note=note,
        severity=Severity.WARNING,
    )
