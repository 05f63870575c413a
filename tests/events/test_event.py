"""The form of one event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.kube.events import EventSource, ObjectReference
from growth.kube.events.event import cut, event_body, event_name
from tests.events.stories import START, no_place

SOURCE = EventSource("growth.dev/reconciler", "reconciler-0")
NOTES = {
    "short": ("no place", "no place"),
    "just fits": ("x" * 1024, "x" * 1024),
    "one too many": ("x" * 1025, "x" * 1021 + "…"),
    "cut between characters": ("é" * 600, "é" * 510 + "…"),
    "cut inside a character": ("x" + "é" * 600, "x" + "é" * 510 + "…"),
}


@pytest.mark.parametrize(("note", "told"), NOTES.values(), ids=NOTES.keys())
def test_a_note_is_cut_where_the_api_server_would_refuse_it(note: str, told: str) -> None:
    assert cut(note) == told


@given(st.text(max_size=3000))
def test_no_note_is_too_long_and_none_is_changed_but_at_its_end(note: str) -> None:
    told = cut(note)
    assert len(told.encode()) <= 1024
    assert note.startswith(told.removesuffix("…"))


def test_the_same_words_about_the_same_object_bear_the_same_name() -> None:
    assert event_name(no_place()) == event_name(no_place())


@pytest.mark.parametrize("change", ["note", "reason", "action"])
def test_other_words_bear_another_name(change: str) -> None:
    other = msgspec.structs.replace(no_place(), **{change: "Other"})
    assert event_name(other) != event_name(no_place())


def test_another_object_of_the_same_name_has_other_events() -> None:
    regarding = ObjectReference("v1", "Pod", "web-0", "shop", uid="of-the-next-web-0")
    other = msgspec.structs.replace(no_place(), regarding=regarding)
    assert event_name(other) != event_name(no_place())


def test_a_long_name_leaves_room_for_the_rest() -> None:
    regarding = ObjectReference("v1", "Pod", "a" * 235 + "." + "b" * 17, "shop")
    name = event_name(msgspec.structs.replace(no_place(), regarding=regarding))
    assert len(name) <= 253
    assert ".." not in name


def test_an_event_of_an_object_without_a_namespace_lies_in_default() -> None:
    node = ObjectReference("v1", "Node", "default-1", uid="u")
    event = msgspec.structs.replace(no_place(), regarding=node)
    body = event_body(event, source=SOURCE, count=1, observed=START)
    assert body["metadata"]["namespace"] == "default"
    assert "namespace" not in body["regarding"]


def test_times_are_utc() -> None:
    tokyo = datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    body = event_body(no_place(), source=SOURCE, count=2, observed=tokyo)
    assert body["eventTime"] == "2026-01-01T00:00:00.000000Z"
    assert body["series"] == {"count": 2, "lastObservedTime": body["eventTime"]}
    assert datetime.fromisoformat(body["eventTime"]) == tokyo.astimezone(UTC)
