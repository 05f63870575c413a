"""An event as data: what is said about which object; and the form in which the API server takes it.

The name is made of what is said, so the same words about the same object are the same Event after a
restart too: the API server then says that it exists, and it is continued instead of piled up.
"""

from __future__ import annotations

import enum
import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from growth.kube.micro_time import micro_time

if TYPE_CHECKING:
    from datetime import datetime

NOTE_LIMIT = 1024
"""Bytes that the API server takes in a note."""
NAME_LIMIT = 253
ELLIPSIS = "…"
CLUSTER_SCOPED_NAMESPACE = "default"
"""Where events on objects without a namespace lie, and where kubectl looks for them."""


class Severity(enum.Enum):
    """Whether a person should worry."""

    NORMAL = "Normal"
    WARNING = "Warning"


class ObjectReference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The object that is spoken of."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Why (reason) what was done or failed (action) about an object, and a sentence for people.

    The reason is one CamelCase word of a closed set. What changes all the time (a countdown) does
    not belong into the note: a new note is a new Event.
    """

    regarding: ObjectReference
    reason: str
    action: str
    note: str
    severity: Severity = Severity.NORMAL
    related: ObjectReference | None = None

    @property
    def namespace(self) -> str:
        """Where the Event lies."""
        return self.regarding.namespace or CLUSTER_SCOPED_NAMESPACE

    @property
    def subject(self) -> tuple[str, ...]:
        """What may be spoken of only once in a while: this object for this reason."""
        one = self.regarding
        return (one.uid or f"{one.kind}/{one.namespace}/{one.name}", self.reason)


class EventSource(msgspec.Struct, frozen=True):
    """Who speaks."""

    controller: str
    """A qualified name such as `growth.dev/reconciler`."""
    instance: str
    """Which process, such as the pod's name."""


def event_name(event: Event) -> str:
    """The same for the same words about the same object, and another one for any others."""
    said = [*event.subject, event.severity.value, event.action, event.note]
    digest = hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]
    name = event.regarding.name[: NAME_LIMIT - len(digest) - 1].rstrip("-.")
    return f"{name}.{digest}"


def cut(note: str) -> str:
    """The note within the limit, ending in an ellipsis where something was left out."""
    raw = note.encode()
    if len(raw) <= NOTE_LIMIT:
        return note
    return raw[: NOTE_LIMIT - len(ELLIPSIS.encode())].decode(errors="ignore") + ELLIPSIS


def event_body(
    event: Event, *, source: EventSource, count: int, observed: datetime
) -> dict[str, Any]:
    """What is posted. One observation is no series yet: the API server wants two."""
    time = micro_time(observed)
    body: dict[str, Any] = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": event_name(event), "namespace": event.namespace},
        "eventTime": time,
        "type": event.severity.value,
        "reason": event.reason,
        "action": event.action,
        "note": cut(event.note),
        "regarding": msgspec.to_builtins(event.regarding),
        "reportingController": source.controller,
        "reportingInstance": source.instance[:128],
    }
    if event.related is not None:
        body["related"] = msgspec.to_builtins(event.related)
    return body | (series(count, observed) if count > 1 else {})


def series(count: int, observed: datetime) -> dict[str, Any]:
    """The part of an Event that grows."""
    return {"series": {"count": count, "lastObservedTime": micro_time(observed)}}
