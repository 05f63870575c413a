"""Two books, one rule: the table of the rule, and what a stream may do to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.demand import demanded, wire
from growth.demand.demanded import DemandBooks, winner
from growth.demand.entry import DemandEntry, EntryReason, State
from growth.demand.evidence import FEASIBLE_SECONDS
from growth.demand.history import EntryChange, EntryChangeKind
from growth.demand.wire import Bookmark, PositionExpired
from tests.demand.build import NOW, at, book, marked, waiting

if TYPE_CHECKING:
    from growth.demand.book import Book
    from growth.instant import Instant


def said(state: State, version: int, uid: str = "a") -> DemandEntry:
    reason = EntryReason.UNSCHEDULABLE if state is State.DEMAND else EntryReason.FEASIBLE
    return DemandEntry(
        uid=uid,
        namespace="shop",
        name=f"pod-{uid}",
        resource_version=str(version),
        state=state,
        reason=reason,
        since=NOW.wall,
    )


D, H = State.DEMAND, State.HELD


@pytest.mark.parametrize(
    ("own", "theirs", "version", "counts"),
    [
        (None, None, 5, None),
        (D, None, 5, "own"),
        (H, None, 5, "own"),
        (D, (D, 4), 5, "own"),
        (D, (H, 4), 5, "own"),
        (None, (D, 4), 5, None),
        (None, (D, 5), 5, "theirs"),
        (None, (D, 6), 5, "theirs"),
        (D, (D, 5), 5, "own"),
        (D, (H, 5), 5, "theirs"),
        (H, (D, 5), 5, "own"),
        (H, (H, 5), 5, "own"),
        (D, (H, 6), 5, "theirs"),
        (H, (D, 6), 5, "theirs"),
        (None, (H, 5), 5, "theirs"),
        (D, (H, 10), 9, "theirs"),
    ],
)
def test_the_later_version_counts_and_on_a_tie_what_holds_the_pod_back(
    own: State | None, theirs: tuple[State, int] | None, version: int, counts: str | None
) -> None:
    ours = None if own is None else said(own, version)
    other = None if theirs is None else said(*theirs)
    expected = {"own": ours, "theirs": other, None: None}[counts]
    assert winner(ours, other, version=str(version)) is expected


def test_versions_that_cannot_be_compared_leave_it_to_what_we_see_ourselves() -> None:
    ours = said(D, 5)
    assert winner(ours, said(H, 9), version="not a number") is ours


def demand(*pods: Any, pools: tuple[str, ...] = ("default",)) -> DemandBooks:
    made = DemandBooks()
    made.pools(pools, NOW)
    for pod in pods:
        made.put(pod, NOW)
    return made


def shown(made: DemandBooks, now: Instant) -> dict[str, str]:
    return {uid: str(entry.reason) for uid, entry in made.at(now).entries.items()}


def listen(made: DemandBooks, theirs: Book, now: Instant) -> None:
    """One connection that brings the reader to the end of their book."""
    made.connected()
    position = made.resumes_at
    lines = wire.opening(theirs) if position is None else wire.following(theirs, position)
    made.hear(wire.read_lines(lines), now)


def test_our_own_book_is_enough() -> None:
    made = demand(marked("a"), waiting("b"))
    assert shown(made, NOW) == {"a": "Unschedulable"}
    assert made.at(NOW).is_demand("a")
    assert not made.at(NOW).is_demand("b")
    made.put(marked("a", version=2, on="node-1"), at(1))
    assert shown(made, at(1)) == {}
    made.put(marked("b", version=2), at(2))
    made.remove("b", at(3))
    assert shown(made, at(3)) == {}


def test_the_same_view_is_handed_out_until_something_changes() -> None:
    made = demand(marked("a"))
    assert made.at(NOW) is made.at(at(1))
    made.put(marked("a", version=2), at(2))
    assert made.at(at(2)).entries["a"].resource_version == "2"


def test_whoever_does_not_look_for_long_remembers_no_more_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demanded, "MOST_CHANGED", 3)
    made = demand(marked("a"), marked("b"))
    assert shown(made, NOW) == {"a": "Unschedulable", "b": "Unschedulable"}
    for number in range(5):
        made.put(marked(f"c{number}"), NOW)
        made.remove(f"c{number}", NOW)
    made.remove("a", NOW)
    made.put(marked("d"), NOW)
    assert made._changed is None
    assert shown(made, NOW) == {"b": "Unschedulable", "d": "Unschedulable"}


def test_what_only_the_scheduler_tells_holds_a_pod_back_until_its_end() -> None:
    theirs, made = book(marked("a")), demand(marked("a"))
    theirs.feasible("a", version="1", now=NOW)
    listen(made, theirs, NOW)
    assert shown(made, NOW) == {"a": "Feasible"}
    end = made.at(NOW).next_end
    assert end == FEASIBLE_SECONDS
    assert shown(made, at(end)) == {"a": "Unschedulable"}
    assert made.at(at(end)).next_end == math.inf


def test_a_pod_that_the_stream_knows_first_waits_for_our_cache() -> None:
    theirs, made = book(marked("a", version=6)), demand(waiting("b"))
    listen(made, theirs, NOW)
    assert shown(made, NOW) == {}
    made.put(waiting("a", version=5), at(1))
    assert shown(made, at(1)) == {"a": "Unschedulable"}
    assert made.at(at(1)).entries["a"].resource_version == "6"


def test_what_the_stream_says_beyond_what_we_see_counts_for_a_while_only() -> None:
    theirs, made = book(marked("a", version=6)), demand(waiting("a", version=5))
    listen(made, theirs, NOW)
    assert shown(made, at(FEASIBLE_SECONDS - 1)) == {"a": "Unschedulable"}
    assert shown(made, at(FEASIBLE_SECONDS)) == {}


def test_a_line_that_tells_nothing_new_wakes_nobody() -> None:
    theirs, made = book(marked("a")), demand(marked("a"))
    listen(made, theirs, NOW)
    assert made.at(NOW).next_end == math.inf


def test_hearing_the_same_again_after_a_new_beginning_does_not_hold_longer() -> None:
    theirs, made = book(marked("a")), demand(marked("a"))
    theirs.feasible("a", version="1", now=NOW)
    listen(made, theirs, NOW)
    made.hear([PositionExpired()], at(10))
    listen(made, theirs, at(10))
    assert shown(made, at(FEASIBLE_SECONDS)) == {"a": "Unschedulable"}


def test_a_new_beginning_takes_the_place_of_what_was_known_only_when_it_is_whole() -> None:
    theirs, made = book(marked("a"), marked("b")), demand(marked("a"), marked("b"))
    for uid in "ab":
        theirs.feasible(uid, version="1", now=NOW)
    listen(made, theirs, NOW)
    another = book(marked("a"), instance="two")

    made.hear([PositionExpired()], at(1))
    made.connected()
    made.hear([*wire.read_lines(wire.opening(another))][:-1], at(1))
    assert shown(made, at(1)) == {"a": "Feasible", "b": "Feasible"}
    made.hear([Bookmark(another.position)], at(1))
    assert shown(made, at(1)) == {"a": "Unschedulable", "b": "Unschedulable"}
    assert made.resumes_at == another.position


def test_half_a_beginning_is_forgotten_at_the_next_one() -> None:
    made = demand(marked("a"), marked("b"))
    made.connected()
    made.hear([EntryChange(EntryChangeKind.ADDED, said(H, 1, "a"))], NOW)
    made.connected()
    made.hear([EntryChange(EntryChangeKind.ADDED, said(H, 1, "b")), Bookmark("one.1")], NOW)
    assert shown(made, NOW) == {"a": "Unschedulable", "b": "Feasible"}


@pytest.mark.parametrize(
    "lie",
    [
        EntryChange(EntryChangeKind.DELETED, said(D, 99, "a")),
        EntryChange(EntryChangeKind.ADDED, said(H, 99, "a")),
        EntryChange(EntryChangeKind.MODIFIED, said(D, 99, "unknown")),
        EntryChange(EntryChangeKind.DELETED, said(D, 99, "unknown")),
        EntryChange(EntryChangeKind.ADDED, said(D, 99, "c")),
        Bookmark("nonsense"),
        PositionExpired(),
    ],
)
def test_a_stream_that_lies_costs_seconds(lie: EntryChange | Bookmark | PositionExpired) -> None:
    bound = marked("c", on="node-1")
    made = demand(marked("a"), waiting("b"), bound)
    made.connected()
    made.hear([Bookmark("one.0"), lie], NOW)
    assert shown(made, at(FEASIBLE_SECONDS)) == {"a": "Unschedulable"}


Step = tuple[str, str, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["new", "mark", "hold", "bind", "cut", "restart", "listen", "wait"]),
        st.sampled_from("abc"),
        st.integers(0, 4),
    ),
    max_size=40,
)


@given(steps=STEPS)
def test_however_the_stream_goes_and_returns_nothing_is_lost_or_doubled(steps: list[Step]) -> None:
    """Both see the same pods, we some events late; in the end only what is true is left."""
    theirs, made = book(), demand()
    latest: dict[str, Any] = {}
    late: list[Any] = []
    version, now, restarts = 10, 0.0, 0
    for what, uid, number in steps:
        version += 1
        match what:
            case "new" | "mark" | "bind":
                maker = waiting if what == "new" else marked
                on = "node-1" if what == "bind" else ""
                latest[uid] = maker(uid, version=version, owner="web", on=on)
                theirs.put(latest[uid], at(now))
                late.append(latest[uid])
                while len(late) > number:
                    made.put(late.pop(0), at(now))
            case "hold":
                theirs.feasible(uid, version=str(version), now=at(now))
            case "cut":
                made.connected()
            case "restart":
                restarts += 1
                theirs = book(*latest.values(), instance=f"book {restarts}")
            case "listen":
                listen(made, theirs, at(now))
            case _:
                now += number
        assert set(made.at(at(now)).entries) <= set(latest)
    for pod in latest.values():
        made.put(pod, at(now))
    end = at(now + FEASIBLE_SECONDS)
    alone = book(*latest.values())
    assert {
        uid: (e.state, e.reason, e.resource_version) for uid, e in made.at(end).entries.items()
    } == {uid: (e.state, e.reason, e.resource_version) for uid, e in alone.entries.items()}
