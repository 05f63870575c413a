"""Events on objects, as commands show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.cli.cluster.lists import Lists

EVENTS: Final = "/api/v1/events"
OURS: Final = "growth.dev/"
"""The prefix of the sources of growth's own events."""


class ObjectEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event on an object."""

    at: str
    reason: str
    note: str
    source: str


async def events_on(
    lists: Lists, kind: str, name: str, *, namespace: str = "", uid: str = ""
) -> tuple[ObjectEvent, ...]:
    """The events on an object, the newest last."""
    fields = [f"involvedObject.kind={kind}", f"involvedObject.name={name}"]
    if namespace:
        fields.append(f"involvedObject.namespace={namespace}")
    query = {"fieldSelector": ",".join(fields), "limit": "200"}
    answer = await lists.connection.request("GET", EVENTS, query=query)
    found = [
        _event_of(each)
        for each in answer.json()["items"]
        if not uid or each["involvedObject"].get("uid", uid) == uid
    ]
    return tuple(sorted(found, key=lambda each: each.at))


async def events_of_growth(lists: Lists) -> dict[str, list[ObjectEvent]]:
    """All events of growth, by the kind of the object."""
    events = await lists.all_of(EVENTS, msgspec.json.decode)
    found: dict[str, list[ObjectEvent]] = {}
    for event in events:
        each = _event_of(event)
        if each.source.startswith(OURS):
            found.setdefault(event["involvedObject"].get("kind", ""), []).append(each)
    return found


def _event_of(event: Mapping[str, Any]) -> ObjectEvent:
    series, source = event.get("series") or {}, event.get("source") or {}
    at = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return ObjectEvent(
        at=at or event["metadata"].get("creationTimestamp") or "",
        reason=event.get("reason") or "",
        note=" ".join((event.get("message") or "").split()),
        source=event.get("reportingComponent") or source.get("component") or "",
    )
