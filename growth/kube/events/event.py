"""An event as data, and its form in the API server.

The name is a digest of the content, so the same text about the same object is the same Event, also
after a restart. The API server then reports that it exists, and it is updated instead of repeated.
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
"""The most bytes that the API server accepts in a note."""
NAME_LIMIT = 253
ELLIPSIS = "…"
CLUSTER_SCOPED_NAMESPACE = "default"
"""The namespace of events on cluster-scoped objects, where kubectl looks for them."""


class Severity(enum.Enum):
    """The type of an event."""

    NORMAL = "Normal"
    WARNING = "Warning"


class ObjectReference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The object that an event is about."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """What was done or failed (action), why (reason), and a sentence for people (note).

    The reason is a CamelCase word of a closed set. The note must not contain values that keep
    changing, such as a countdown, because each new note is a new Event.
    """

    regarding: ObjectReference
    reason: str
    action: str
    note: str
    severity: Severity = Severity.NORMAL
    related: ObjectReference | None = None

    @property
    def namespace(self) -> str:
        """The namespace of the Event."""
        return self.regarding.namespace or CLUSTER_SCOPED_NAMESPACE

    @property
    def subject(self) -> tuple[str, ...]:
        """The object and the reason, which are written only once per window."""
        one = self.regarding
        return (one.uid or f"{one.kind}/{one.namespace}/{one.name}", self.reason)


class EventSource(msgspec.Struct, frozen=True):
    """The source of events."""

    controller: str
    """A qualified name such as `growth.dev/reconciler`."""
    instance: str
    """The process, for example by the name of its pod."""


def event_name(event: Event) -> str:
    """The name of an event: equal for equal content about the same object, and only then."""
    said = [*event.subject, event.severity.value, event.action, event.note]
    digest = hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]
    # A name that is cut behind a dash or a dot, and goes on with a dot, isn't valid.
    name = event.regarding.name[: NAME_LIMIT - len(digest) - 1].rstrip("-.")
    return f"{name}.{digest}"


def cut(note: str) -> str:
    """The note within the limit; it ends with an ellipsis if it was cut."""
    raw = note.encode()
    if len(raw) <= NOTE_LIMIT:
        return note
    return raw[: NOTE_LIMIT - len(ELLIPSIS.encode())].decode(errors="ignore") + ELLIPSIS


def event_body(
    event: Event, *, source: EventSource, count: int, observed: datetime
) -> dict[str, Any]:
    """The body of an Event. The API server accepts a series only from two observations on."""
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
        # The API server refuses an event with a longer one.
        "reportingInstance": source.instance[:128],
    }
    if event.related is not None:
        body["related"] = msgspec.to_builtins(event.related)
    return body | (series(count, observed) if count > 1 else {})


def series(count: int, observed: datetime) -> dict[str, Any]:
    """The series of an Event, which is the part that changes."""
    return {"series": {"count": count, "lastObservedTime": micro_time(observed)}}
