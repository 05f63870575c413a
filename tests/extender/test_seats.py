"""A machine that was bought for pods to come gets as many of them as it was planned for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.protocol import read_arguments
from extender.seats import Seats, Sent
from extender.steering import Steering
from growth.demand.evidence import FEASIBLE_SECONDS, MOST_HOLDS
from growth.scheduling.owners import Owner, owner_of
from growth.scheduling.resources import NOTHING
from tests.demand.build import NOW, at
from tests.extender.build import a_node, a_pod, a_request, added, changed, gone, question

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from growth.instant import Instant
    from growth.scheduling.pod import Pod

WEB = Owner("ReplicaSet", "shop", "web")


def planned(*, most: int = MOST_HOLDS, **numbers: int) -> Seats:
    """So many pods of web are planned on each of these nodes."""
    seats = Seats(most=most)
    seats.follow_requests(
        [added(a_request(node, workloads={"web": count})) for node, count in numbers.items()]
    )
    return seats


def asked(
    seats: Seats, uid: str, *, hosts: str = "abc", named: str = "", now: Instant = NOW
) -> str:
    """What is said of a pod of web; the scheduler heeds it."""
    seats.settle(now)
    found = seats.node_for(uid, WEB, hosts, rather=named)
    if found:
        seats.sent(uid, WEB, found, Sent("7", NOTHING), now=now)
    return found


def test_it_is_sent_where_most_of_its_like_are_missing_until_none_is() -> None:
    seats = planned(a=1, b=2)
    assert [asked(seats, uid) for uid in "1234"] == ["b", "b", "a", ""]


def test_whoever_is_asked_about_again_takes_no_second_place() -> None:
    seats = planned(a=1)
    assert [asked(seats, uid) for uid in ("1", "1", "2")] == ["a", "a", ""]


def test_only_a_node_that_the_scheduler_has_left_is_said() -> None:
    assert asked(planned(a=1, b=2), "1", hosts="ac") == "a"


def test_the_node_that_the_pod_is_named_for_is_said_as_long_as_its_like_are_missing_there() -> None:
    seats = planned(a=1, b=2)
    assert [asked(seats, uid, named="a") for uid in "12"] == ["a", "b"]


def test_who_went_elsewhere_leaves_the_place_to_the_next() -> None:
    seats = planned(a=1)
    asked(seats, "uid-1")
    seats.follow_pods([changed(a_pod("1", of="web"), a_pod("1", of="web", node="z"))])
    assert asked(seats, "2") == "a"


def test_a_pod_that_is_never_seen_leaves_its_place_to_the_next() -> None:
    seats = planned(a=1)
    asked(seats, "invented")
    assert asked(seats, "1", now=at(FEASIBLE_SECONDS - 1)) == ""
    assert asked(seats, "1", now=at(FEASIBLE_SECONDS)) == "a"


def test_a_pod_that_was_seen_where_it_was_sent_counts_for_good() -> None:
    seats = planned(a=1)
    asked(seats, "uid-1")
    seats.follow_pods([changed(a_pod("1", of="web"), a_pod("1", of="web", node="a"))])
    assert asked(seats, "2", now=at(2 * FEASIBLE_SECONDS)) == ""


def test_a_question_about_a_pod_that_has_its_node_moves_it_nowhere() -> None:
    seats = planned(a=1, b=1)
    seats.follow_pods([added(a_pod("1", of="web", node="a"))])
    asked(seats, "uid-1", hosts="b")
    assert asked(seats, "2", now=at(FEASIBLE_SECONDS)) == "b"
    assert asked(seats, "3", now=at(FEASIBLE_SECONDS)) == ""


def test_of_pods_that_are_asked_about_only_so_many_are_remembered() -> None:
    seats = planned(a=3, most=2)
    assert [asked(seats, uid) for uid in "12345"] == ["a"] * 5


def waiting(version: int, said: str = "") -> Pod:
    """A pod of web without a node, and why the scheduler has found it none."""
    return a_pod("1", of="web", version=version, said=said)


def test_a_pod_that_was_not_bound_leaves_its_place_to_the_next() -> None:
    seats = planned(a=1)
    asked(seats, "uid-1")
    failed = waiting(8, said="binding rejected: the volume is gone")
    seats.follow_pods([changed(waiting(7), failed)])
    assert asked(seats, "2") == "a"


def test_a_pod_that_is_no_longer_nominated_leaves_its_place_to_the_next() -> None:
    seats, there = planned(a=1), a_pod("1", of="web", node="a")
    seats.follow_pods([added(there)])
    seats.follow_pods([changed(there, waiting(8))])
    assert asked(seats, "2") == "a"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (waiting(5), waiting(6, said="0/3 nodes are available")),
        (waiting(7, said="0/3 nodes are available"), waiting(8, said="0/3 nodes are available")),
    ],
    ids=["our watch brings late what was said before it was asked about", "another change"],
)
def test_news_that_say_nothing_of_the_binding_leave_its_place_to_a_pod(
    before: Pod, after: Pod
) -> None:
    seats = planned(a=1)
    asked(seats, "uid-1")
    seats.follow_pods([changed(before, after)])
    assert asked(seats, "2") == ""


@pytest.mark.parametrize("last", ["gone", "finished"])
def test_who_has_ended_leaves_the_place_to_the_next(last: str) -> None:
    seats, there = planned(a=1), a_pod("1", of="web", node="a")
    seats.follow_pods([added(there)])
    assert asked(seats, "2") == ""
    ended = a_pod("1", of="web", node="a", phase="Succeeded")
    seats.follow_pods([gone(there) if last == "gone" else changed(there, ended)])
    assert asked(seats, "2") == "a"


def test_it_is_the_same_whether_pods_or_requests_are_listed_first() -> None:
    one, other = planned(a=1), Seats()
    there = [added(a_pod("1", of="web", node="a"))]
    one.follow_pods(there)
    other.follow_pods(there)
    other.follow_requests([added(a_request("a", workloads={"web": 1}))])
    assert asked(one, "2") == asked(other, "2") == ""


def test_a_machine_that_came_to_nothing_is_for_nobody() -> None:
    before = a_request("a", workloads={"web": 1}, phase="Pending")
    seats = Seats()
    seats.follow_requests([added(before)])
    seats.follow_requests([changed(before, a_request("a", workloads={"web": 1}, phase="Unmet"))])
    assert asked(seats, "1") == ""


def test_a_pod_that_was_not_named_is_steered_by_what_the_scheduler_says_of_it() -> None:
    steering = Steering()
    steering.follow_nodes([added(a_node(name)) for name in "ab"])
    steering.follow_pods([added(a_pod("other", node="b"))])
    steering.follow_requests([added(a_request("a", workloads={"web": 1}, kind="Deployment"))])
    reference = {"kind": "ReplicaSet", "name": "web-5d8f", "uid": "u", "controller": True}
    labels = {"pod-template-hash": "5d8f"}
    metadata = {"uid": "1", "namespace": "shop", "labels": labels, "ownerReferences": [reference]}
    arguments = read_arguments(question("ab", Pod={"metadata": metadata}))

    assert steering.scores(arguments.metadata, "ab") == {"a": 10, "b": 3}
    assert steering.scores(a_pod("2", of="web").metadata, "ab") == {"a": 1, "b": 3}


def promised_to_web(*more: Pod) -> Steering:
    """Nodes of 4 CPUs: three pods of web, of 1 CPU each, are to come to a, and two to b."""
    steering = Steering()
    steering.follow_nodes([added(a_node(name)) for name in "abc"])
    steering.follow_pods([added(pod) for pod in (a_pod("new"), *more)])
    numbers = {"a": {"web": 3}, "b": {"web": 2}}
    steering.follow_requests([added(a_request(n, workloads=w)) for n, w in numbers.items()])
    return steering


@pytest.mark.parametrize(
    ("on_a", "on_b", "expected"),
    [
        ("0", "1", {"a": 2, "b": 3, "c": 1}),
        ("1", "1", {"a": 0, "b": 3, "c": 1}),
        ("1", "2", {"a": 0, "b": 0, "c": 3}),
    ],
    ids=["room beside those to come", "on one there is none", "on neither there is any"],
)
def test_who_has_no_seat_goes_where_it_takes_nobodys(
    on_a: str, on_b: str, expected: dict[str, int]
) -> None:
    others = a_pod("one", node="a", cpu=on_a), a_pod("two", node="b", cpu=on_b)
    assert promised_to_web(*others).scores(a_pod("new").metadata, "abc") == expected


def test_where_all_is_promised_it_goes_where_the_others_lack_least() -> None:
    crowded = promised_to_web(a_pod("one", node="a"), a_pod("two", node="b", cpu="3"))
    assert crowded.scores(a_pod("new").metadata, "ab") == {"a": 3, "b": 1}


def test_whoever_was_sent_a_moment_ago_has_taken_room_already() -> None:
    waits = a_pod("web-1", of="web")
    steering = promised_to_web(waits)
    assert steering.seats.claims("a")["a"]["cpu"] == 3000
    steering.scores(waits.metadata, "a")
    assert steering.seats.claims("a")["a"]["cpu"] == 3000
    steering.follow_pods([changed(waits, a_pod("web-1", of="web", node="a"))])
    assert steering.seats.claims("a")["a"]["cpu"] == 2000


PLAN = st.dictionaries(
    st.sampled_from("abcd"),
    st.dictionaries(st.sampled_from(["web", "db", "log"]), st.integers(1, 6), min_size=1),
    min_size=1,
)


@given(plan=PLAN, chance=st.randoms(use_true_random=False))
def test_in_whichever_order_pods_come_and_events_arrive_each_node_gets_what_it_is_for(
    plan: dict[str, dict[str, int]], chance: Random
) -> None:
    seats = Seats()
    seats.follow_requests([added(a_request(n, workloads=w)) for n, w in plan.items()])
    names = [w for workloads in plan.values() for w, n in workloads.items() for _ in range(n)]
    chance.shuffle(names)
    bound: Counter[tuple[str, str]] = Counter()
    late: list[Pod] = []
    for number, of in enumerate(names):
        node = _heeded(seats, a_pod(str(number), of=of), list(plan))
        bound[node, of] += 1
        late.append(a_pod(str(number), of=of, node=node))
        if chance.random() < 0.3:
            seats.follow_pods([added(each) for each in late])
            late.clear()

    assert bound == Counter({(n, w): count for n, ws in plan.items() for w, count in ws.items()})


def _heeded(seats: Seats, pod: Pod, hosts: Sequence[str]) -> str:
    owner = owner_of(pod)
    node = seats.node_for(pod.metadata.uid, owner, hosts, rather="")
    seats.sent(pod.metadata.uid, owner, node, Sent("7", pod.requests), now=NOW)
    return node
