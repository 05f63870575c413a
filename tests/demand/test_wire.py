"""The book on the wire and back."""

from __future__ import annotations

import json

import pytest

from growth.demand import wire
from growth.demand.history import EntryChange, EntryChangeKind
from growth.demand.wire import Bookmark, PositionExpired
from tests.demand.build import at, book, marked, waiting


def test_a_new_reader_gets_the_whole_book_and_then_its_position() -> None:
    made = book(marked("a", owner="web"), waiting("b", owner="web"))
    *changes, last = wire.read_lines(wire.opening(made))
    assert changes == [EntryChange(EntryChangeKind.ADDED, entry) for entry in made.entries.values()]
    assert last == Bookmark(made.position)


def test_a_line_is_a_watch_event_with_an_entry_and_no_spec() -> None:
    first, _ = wire.opening(book(marked("a", version=7)))
    assert first.endswith(b"\n")
    assert json.loads(first) == {
        "type": "ADDED",
        "object": {
            "uid": "a",
            "namespace": "shop",
            "name": "pod-a",
            "resourceVersion": "7",
            "state": "demand",
            "reason": "Unschedulable",
            "since": "2026-01-01T00:00:00Z",
            "inferred": False,
        },
    }


def test_a_reader_goes_on_where_it_was_cut_off() -> None:
    made = book(marked("a"))
    position = made.position
    made.put(marked("a", version=2), at(1))
    made.remove("a", at(2))
    changes = made.after(position)
    assert list(wire.read_lines(wire.following(made, position))) == [
        *(changes or ()),
        Bookmark(made.position),
    ]


@pytest.mark.parametrize("position", ["", "other.0", "one.99"])
def test_a_reader_that_cannot_go_on_is_told_so(position: str) -> None:
    (line,) = wire.following(book(marked("a")), position)
    assert json.loads(line)["object"]["code"] == 410
    assert wire.read_line(line) == PositionExpired()


def test_the_snapshot_is_one_document() -> None:
    made = book(marked("a"), marked("b"))
    read = json.loads(wire.snapshot(made))
    assert read["kind"] == "DemandList"
    assert read["metadata"] == {"resourceVersion": made.position}
    told = [json.loads(line)["object"] for line in wire.opening(made)[:-1]]
    assert read["items"] == told


def test_what_a_later_version_may_say_is_passed_over() -> None:
    first, _ = wire.opening(book(marked("a")))
    document = json.loads(first)
    document["object"] |= {"reason": "SomethingNew", "more": {"a": 1}}
    change = wire.read_line(json.dumps(document).encode())
    assert isinstance(change, EntryChange)
    assert change.entry.reason == "SomethingNew"
    assert wire.read_line(b'{"type":"SOMETHING","object":{}}') is None


@pytest.mark.parametrize(
    "line",
    [
        b"rubbish",
        b"{}",
        b"[]",
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":{}}',
        b'{"type":"ADDED","object":null}',
        b'{"type":"BOOKMARK","object":{}}',
        b'{"type":"ERROR","object":{"code":500,"message":"broken"}}',
        b'{"type":"ADDED","object":{"uid":"a"',
        b"\xff\xfe",
        b'{"type":"\xff"}',
        b'{"type":"ERROR","object":{"code":500,"message":"\xff"}}',
        b'{"type":"ADDED","object":' + b"[" * 100_000,
        b'{"type":"ADDED","items":' + b"[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_rubbish(line: bytes) -> None:
    with pytest.raises(wire.Rubbish):
        wire.read_line(line)
