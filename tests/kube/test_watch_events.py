from __future__ import annotations

import json
from typing import Any

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.kube.cache.contents import Unreadable
from growth.kube.cache.resource import Key, WatchedResource
from growth.kube.cache.watch_events import LONGEST_LINE, EventKind, Garbled, Lines, decoded_events
from tests.kube.memory import PATH, THINGS

SECRET = "canary-51d0"


class Model(pydantic.BaseModel):
    metadata: dict[str, Any]
    number: int


def thing(**fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "shop", "uid": "u", "resourceVersion": "7"}
    return {"metadata": metadata, **fields}


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, "object": thing(**fields)}).encode()


@given(st.lists(st.binary(max_size=9).filter(lambda text: b"\n" not in text)), st.data())
def test_lines_are_the_same_whatever_pieces_they_come_in(
    written: list[bytes], data: st.DataObject
) -> None:
    rest = b"".join(each + b"\n" for each in written)
    lines, found = Lines(), []
    while rest:
        cut = data.draw(st.integers(1, len(rest)))
        found += lines.feed(rest[:cut])
        rest = rest[cut:]

    assert found == [each for each in written if each]


def test_a_stream_without_line_ends_is_given_up() -> None:
    lines = Lines()
    lines.feed(b"x" * LONGEST_LINE)

    with pytest.raises(Garbled):
        lines.feed(b"x")


@pytest.mark.parametrize(
    "garbled",
    [
        b"no JSON",
        b'{"type":"\xff","object":{}}',
        b'{"type":"ADDED","object":' + b"[" * 100_000,
        b'{"type":"ADDED","object":{"metadata":{"name":"\xff"}}}',
        b'{"type":"BOOKMARK","object":{"metadata":5}}',
    ],
)
def test_a_line_that_cannot_be_read_ends_the_stream_and_nothing_else(garbled: bytes) -> None:
    with pytest.raises(Garbled):
        list(decoded_events([garbled], resource=THINGS))


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_an_event_is_read_however_it_is_spaced(separators: tuple[str, str]) -> None:
    spaced = json.dumps(json.loads(line("DELETED", colour="red")), separators=separators).encode()
    [event] = decoded_events([spaced], resource=THINGS)

    assert (event.kind, event.version, event.key) == (EventKind.DELETED, "7", Key("shop", "a"))


def test_what_is_added_to_an_envelope_is_passed_over() -> None:
    more = {"type": "ADDED", "object": thing(colour="red"), "more": {}}
    [event] = decoded_events([json.dumps(more, separators=(",", ":")).encode()], resource=THINGS)

    assert event.kind is EventKind.PUT


@pytest.mark.parametrize(
    ("decode", "problem"),
    [
        (THINGS.decode, "Expected `str`, got `array` - at `$.colour`"),
        (Model.model_validate_json, "number: Input should be a valid integer"),
        (lambda raw: {}[raw], "KeyError"),
    ],
)
def test_a_problem_is_told_without_the_value(decode: Any, problem: str) -> None:
    resource = WatchedResource(path=PATH, decode=decode)
    [event] = decoded_events([line("ADDED", colour=[SECRET], number=SECRET)], resource=resource)

    assert isinstance(event.object, Unreadable)
    assert problem in event.object.problem
    assert SECRET not in event.object.problem


def test_events_before_an_error_are_handed_out_first() -> None:
    status = {"type": "ERROR", "object": {"code": 410, "reason": "Expired"}}
    events = decoded_events(
        [line("ADDED", colour="red"), msgspec.json.encode(status)], resource=THINGS
    )

    assert next(events).kind is EventKind.PUT
    with pytest.raises(Exception, match="watch things in shop"):
        next(events)
