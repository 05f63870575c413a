"""What the book says, by the rules one after the other."""

from __future__ import annotations

from typing import Any

import pytest

from growth.demand import evidence
from growth.demand.book import Book
from growth.demand.entry import EntryReason, State
from growth.demand.evidence import FEASIBLE_SECONDS, NOMINATED_SECONDS, RENEWED_AFTER
from growth.demand.history import EntryChange, EntryChangeKind, History
from growth.demand.siblings import Family, Siblings
from growth.scheduling.shape import Shape
from tests.demand.build import NOW, at, book, marked, told, verdict, waiting

DAEMON = {"ownerReferences": [{"kind": "DaemonSet", "name": "d", "uid": "d", "controller": True}]}
STATIC = {"annotations": {"kubernetes.io/config.mirror": "x"}}
DELETING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "Unschedulable"),
        ({"said": None}, None),
        ({"said": verdict(reason="SchedulerError")}, None),
        ({"said": verdict(reason="SchedulingGated")}, None),
        ({"said": verdict(reason="")}, None),
        ({"said": verdict(status="True")}, None),
        ({"said": verdict(status="Unknown")}, None),
        ({"said": verdict(kind="Ready")}, None),
        ({"on": "node-1"}, None),
        ({"nominated": "node-1"}, "Nominated"),
        ({"schedulingGates": [{"name": "wait"}]}, None),
        ({"phase": "Succeeded"}, None),
        ({"phase": "Failed"}, None),
        ({"metadata": DELETING}, None),
        ({"metadata": DAEMON}, None),
        ({"metadata": STATIC}, None),
        ({"schedulerName": "another"}, "Unschedulable"),
        ({"nodeSelector": {"growth.dev/pool": "gpu"}}, "PoolNotFound"),
    ],
)
def test_a_pod_is_in_the_book_if_a_node_is_what_it_waits_for(
    fields: dict[str, Any], reason: str | None
) -> None:
    made = book(marked("a", **fields))
    assert told(made) == ({"a": reason} if reason else {})


@pytest.mark.parametrize(
    "fields",
    [
        {"on": "node-1"},
        {"schedulingGates": [{"name": "wait"}]},
        {"phase": "Failed"},
        {"metadata": DELETING},
        {"said": verdict(reason="SchedulerError")},
    ],
)
def test_a_pod_that_is_not_waiting_any_more_leaves_with_its_last_version(
    fields: dict[str, Any],
) -> None:
    made = book(marked("a", version=5))
    before = made.position

    made.put(marked("a", version=9, **fields), at(1))

    (change,) = made.after(before) or ()
    assert made.entries == {}
    assert (change.kind, change.entry.resource_version) == (EntryChangeKind.DELETED, "9")


def test_a_pod_that_is_deleted_leaves() -> None:
    made = book(marked("a"))
    made.remove("a", at(1))
    assert made.entries == {}
    made.remove("a", at(2))
    made.remove("never seen", at(2))


def test_an_entry_names_the_pod_and_the_version_that_was_judged_and_since_when() -> None:
    made = book()
    made.put(marked("a", version=5), at(3))
    made.put(marked("a", version=8, labels={"new": "label"}), at(4))
    entry = made.entries["a"]
    assert (entry.namespace, entry.name, entry.resource_version) == ("shop", "pod-a", "8")
    assert (entry.state, entry.since, entry.inferred) == (State.DEMAND, at(3).wall, False)


class TestSiblings:
    def test_that_the_scheduler_has_not_reached_are_demand_with_the_first_one(self) -> None:
        made = book(waiting("b", owner="web"), waiting("c", owner="web"))
        assert told(made) == {}
        made.put(marked("a", owner="web"), at(1))
        assert told(made) == {
            "a": "Unschedulable",
            "b": "SiblingUnschedulable",
            "c": "SiblingUnschedulable",
        }
        assert [entry.inferred for entry in made.entries.values()] == [False, True, True]

    def test_that_come_later_are_demand_at_once(self) -> None:
        made = book(marked("a", owner="web"))
        made.put(waiting("b", owner="web"), at(1))
        assert told(made)["b"] == "SiblingUnschedulable"

    @pytest.mark.parametrize(
        "other",
        [
            waiting("b"),
            waiting("b", owner="another"),
            waiting("b", owner="web", requests={"cpu": "2"}),
            waiting("b", owner="web", namespace="elsewhere"),
            waiting("b", owner="web", schedulerName="another"),
            waiting("b", owner="web", said=verdict(reason="SchedulerError")),
            waiting("b", owner="web", nominated="node-1"),
            waiting("b", owner="web", schedulingGates=[{"name": "wait"}]),
        ],
    )
    def test_are_of_the_same_owner_and_shape_and_not_reached(self, other: Any) -> None:
        assert told(book(marked("a", owner="web"), other)) == {"a": "Unschedulable"}

    def test_that_waited_behind_gates_are_demand_once_these_are_off(self) -> None:
        # as the API server leaves it: nobody takes the condition back with the gates
        behind = verdict(reason="SchedulingGated")
        gated = waiting("b", owner="web", said=behind, schedulingGates=[{"name": "quota"}])
        made = book(marked("a", owner="web"), gated)
        assert told(made) == {"a": "Unschedulable"}
        made.put(waiting("b", owner="web", version=2, said=behind), at(1))
        assert told(made) == {"a": "Unschedulable", "b": "SiblingUnschedulable"}

    def test_without_an_owner_are_none(self) -> None:
        assert told(book(marked("a"), waiting("b"))) == {"a": "Unschedulable"}

    def test_wait_for_their_own_turn_when_the_last_one_has_its_node(self) -> None:
        made = book(*(marked(uid, owner="web") for uid in "ab"), waiting("c", owner="web"))
        made.put(marked("a", owner="web", version=2, on="node-1"), at(1))
        assert told(made) == {"b": "Unschedulable", "c": "SiblingUnschedulable"}
        made.remove("b", at(2))
        assert told(made) == {}

    def test_of_one_that_is_held_back_wait_too(self) -> None:
        made = book(marked("a", owner="web"), waiting("b", owner="web"))
        made.feasible("a", version="1", now=at(1))
        assert told(made) == {"a": "Feasible"}
        made.settle(at(1 + FEASIBLE_SECONDS))
        assert told(made) == {"a": "Unschedulable", "b": "SiblingUnschedulable"}

    def test_become_certain_when_the_scheduler_reaches_them(self) -> None:
        made = book(marked("a", owner="web"), waiting("b", owner="web"))
        made.put(marked("b", owner="web", version=2), at(1))
        assert told(made)["b"] == "Unschedulable"
        assert not made.entries["b"].inferred

    def test_are_touched_by_the_first_and_the_last_only(self) -> None:
        siblings, family = Siblings(), Family("web", Shape("any"))
        for uid in "cd":
            siblings.waits(uid, family)
        assert list(siblings.demands("a", family)) == ["c", "d"]
        assert list(siblings.demands("b", family)) == []
        assert list(siblings.leaves("a", family)) == []
        assert list(siblings.leaves("b", family)) == ["c", "d"]

    def test_go_with_a_pod_that_changes_its_owner(self) -> None:
        made = book(marked("a", owner="web"), waiting("b", owner="web"), waiting("c", owner="db"))
        made.put(marked("a", owner="db", version=2), at(1))
        assert told(made) == {"a": "Unschedulable", "c": "SiblingUnschedulable"}


class TestEvidence:
    def test_holds_a_pod_until_its_end(self) -> None:
        made = book(marked("a"))
        made.feasible("a", version="1", now=at(1))
        entry = made.entries["a"]
        assert (entry.state, entry.reason, entry.since) == (
            State.HELD,
            EntryReason.FEASIBLE,
            at(1).wall,
        )
        assert made.next_end == 1 + FEASIBLE_SECONDS

        made.settle(at(made.next_end - 0.001))
        assert made.entries["a"].state is State.HELD
        made.settle(at(made.next_end))
        assert (made.entries["a"].state, made.next_end) == (State.DEMAND, float("inf"))

    def test_that_is_repeated_holds_from_then_on(self) -> None:
        made = book(marked("a"))
        made.feasible("a", version="1", now=at(1))
        made.feasible("a", version="1", now=at(5))
        assert made.entries["a"].since == at(5).wall
        assert made.next_end == 5 + FEASIBLE_SECONDS

    def test_that_is_repeated_at_once_is_no_news(self) -> None:
        made = book(marked("a"))
        made.feasible("a", version="1", now=at(1))
        before = made.position
        for _ in range(1000):
            made.feasible("a", version="1", now=at(1 + RENEWED_AFTER - 0.001))
        assert made.position == before
        made.feasible("a", version="1", now=at(1 + RENEWED_AFTER))
        assert made.next_end == 1 + RENEWED_AFTER + FEASIBLE_SECONDS

    def test_about_a_new_version_of_the_pod_holds_from_then_on(self) -> None:
        made = book(marked("a"))
        made.feasible("a", version="1", now=at(1))
        made.feasible("a", version="2", now=at(2))
        assert made.next_end == 2 + FEASIBLE_SECONDS

    def test_that_is_repeated_leaves_the_end_of_others_where_it_was(self) -> None:
        made = book(marked("a"), marked("b"))
        for uid, second in (("a", 1), ("b", 5), ("a", 10)):
            made.feasible(uid, version="1", now=at(second))
        assert made.next_end == 5 + FEASIBLE_SECONDS
        made.settle(at(made.next_end))
        assert told(made) == {"a": "Feasible", "b": "Unschedulable"}

    def test_is_bounded_and_the_oldest_gives_way(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(evidence, "MOST_HOLDS", 2)
        made = book(marked("a"), marked("b"), marked("c"))
        for uid in "abc":
            made.feasible(uid, version="1", now=at(1))
        assert told(made) == {"a": "Unschedulable", "b": "Feasible", "c": "Feasible"}

    def test_ends_when_the_scheduler_gives_up_on_the_pod_afterwards(self) -> None:
        made = book(waiting("a", version=5))
        made.feasible("a", version="5", now=at(1))
        made.put(marked("a", version=6), at(2))
        assert told(made) == {"a": "Unschedulable"}
        made.feasible("a", version="6", now=at(3))
        made.put(marked("a", version=7, said=verdict(message="other")), at(4))
        assert told(made) == {"a": "Unschedulable"}

    def test_stays_when_the_pod_changes_in_other_ways(self) -> None:
        made = book(marked("a", version=5))
        made.feasible("a", version="5", now=at(1))
        made.put(marked("a", version=6, labels={"new": "label"}), at(2))
        assert told(made) == {"a": "Feasible"}
        assert made.entries["a"].resource_version == "6"

    def test_is_not_ended_by_an_older_verdict_that_our_watch_brings_late(self) -> None:
        made = book(waiting("a", version=5))
        made.feasible("a", version="6", now=at(1))
        made.put(marked("a", version=6), at(2))
        assert told(made) == {"a": "Feasible"}

    def test_may_be_there_before_the_pod(self) -> None:
        made = book()
        made.feasible("a", version="5", now=at(1))
        assert made.entries == {}
        made.put(marked("a", version=5), at(2))
        assert told(made) == {"a": "Feasible"}

    def test_holds_an_inferred_pod(self) -> None:
        made = book(marked("a", owner="web"), waiting("b", owner="web"))
        made.feasible("b", version="1", now=at(1))
        assert told(made) == {"a": "Unschedulable", "b": "Feasible"}
        assert made.entries["b"].inferred

    def test_of_a_pod_that_is_no_demand_makes_no_entry(self) -> None:
        made = book(waiting("a"))
        made.feasible("a", version="1", now=at(1))
        assert made.entries == {}

    def test_is_forgotten_with_the_pod(self) -> None:
        made = book(marked("a"))
        made.feasible("a", version="1", now=at(1))
        made.put(marked("a", version=2, on="node-1"), at(2))
        assert made.next_end == float("inf")

    def test_of_a_nomination_ends_too(self) -> None:
        made = book(marked("a", nominated="node-1"))
        assert made.next_end == NOMINATED_SECONDS
        made.put(marked("a", nominated="node-1", version=2), at(9))
        assert made.next_end == NOMINATED_SECONDS
        made.put(marked("a", nominated="node-2", version=3), at(10))
        assert made.next_end == 10 + NOMINATED_SECONDS
        made.settle(at(10 + NOMINATED_SECONDS))
        assert told(made) == {"a": "Unschedulable"}

    def test_of_a_nomination_is_gone_with_it(self) -> None:
        made = book(marked("a", nominated="node-1"))
        made.put(marked("a", version=2), at(1))
        assert told(made) == {"a": "Unschedulable"}
        assert made.next_end == float("inf")


class TestPools:
    def test_that_appear_and_go_touch_the_pods_that_want_them(self) -> None:
        gpu = {"nodeSelector": {"growth.dev/pool": "gpu"}}
        made = book(marked("a"), marked("b", **gpu), pools=())
        assert told(made) == {"a": "PoolNotFound", "b": "PoolNotFound"}
        before = made.position
        made.pools(["gpu"], at(1))
        assert told(made) == {"a": "PoolNotFound", "b": "Unschedulable"}
        assert [change.entry.uid for change in made.after(before) or ()] == ["b"]
        made.pools(["default"], at(2))
        assert told(made) == {"a": "Unschedulable", "b": "PoolNotFound"}

    def test_are_not_missing_before_they_are_known(self) -> None:
        made = Book(instance="one")
        made.put(marked("a"), NOW)
        assert told(made) == {"a": "Unschedulable"}


class TestHistory:
    def test_tells_each_change_once_and_in_order(self) -> None:
        made = book()
        before = made.position
        made.put(marked("a"), at(1))
        made.put(marked("a"), at(2))
        made.put(waiting("b"), at(3))
        made.put(marked("a", version=2), at(4))
        made.remove("a", at(5))
        changes = made.after(before) or ()
        assert [each.kind.value for each in changes] == ["ADDED", "MODIFIED", "DELETED"]
        assert made.after(made.position) == ()

    @pytest.mark.parametrize(
        "position", ["", "one", "two.0", "one.", "one.x", "one.1", "one.-1", "one." + "9" * 30]
    )
    def test_cannot_go_on_from_a_place_that_it_does_not_know(self, position: str) -> None:
        assert book().after(position) is None

    def test_goes_back_a_bounded_way(self) -> None:
        entry = book(marked("a")).entries["a"]
        history = History(instance="one", most=3)
        for _ in range(4):
            history.add(EntryChange(EntryChangeKind.MODIFIED, entry))
        assert history.after("one.0") is None
        assert len(history.after("one.1") or ()) == 3
