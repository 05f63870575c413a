"""Which node gets the pod: the one bought for it, else the fullest, and last the one that goes."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.scoring import better_scores, scores
from extender.steering import Steering
from growth.api.wellknown import SCALE_DOWN_TAINT
from growth.scheduling.metadata import Metadata
from tests.extender.build import a_node, a_pod, a_removal, a_request, added, changed, gone

if TYPE_CHECKING:
    from collections.abc import Iterable

    from extender.seats import Seats

NODES = ("a", "b", "c", "d")


def a_cluster() -> Steering:
    """Nodes of 4 CPUs: a is empty, b has one pod, c two, d three."""
    steering = Steering()
    steering.follow_nodes([added(a_node(name)) for name in NODES])
    pods = [
        a_pod(f"{node}{n}", node=node) for count, node in enumerate(NODES) for n in range(count)
    ]
    steering.follow_pods([added(pod) for pod in pods])
    return steering


def ranked(steering: Steering, *, uid: str = "", hosts: Iterable[str] = NODES) -> dict[str, int]:
    return steering.scores(Metadata(uid=uid), hosts)


def test_the_fullest_comes_first_and_the_emptier_half_last() -> None:
    assert ranked(a_cluster()) == {"a": 1, "b": 1, "c": 2, "d": 3}


def test_only_the_nodes_that_are_left_are_compared() -> None:
    assert ranked(a_cluster(), hosts=["a", "b"]) == {"a": 1, "b": 3}


def test_nodes_that_are_equally_full_are_equally_good() -> None:
    steering = Steering()
    steering.follow_nodes([added(a_node("a")), added(a_node("b"))])

    assert ranked(steering, hosts=["a", "b"]) == {"a": 3, "b": 3}


def test_a_node_that_no_cache_shows_yet_counts_as_empty() -> None:
    assert ranked(a_cluster(), hosts=["new", "d"]) == {"new": 1, "d": 3}


def test_the_node_that_was_bought_for_the_pod_outweighs_all() -> None:
    steering = a_cluster()
    steering.plans.follow([added(a_request("a", pods=["wanted"]))])

    assert ranked(steering, uid="wanted") == {"a": 10, "b": 1, "c": 2, "d": 3}
    assert ranked(steering, uid="other") == {"a": 1, "b": 1, "c": 2, "d": 3}


def test_a_node_that_was_bought_but_does_not_fit_is_not_added() -> None:
    steering = a_cluster()
    steering.plans.follow([added(a_request("a", pods=["wanted"]))])

    assert ranked(steering, uid="wanted", hosts=["b", "c"]) == {"b": 1, "c": 3}


def test_the_newest_plan_counts() -> None:
    steering = a_cluster()
    older = a_request("b", pods=["wanted"], made="2026-01-01T00:00:00Z")
    newer = a_request("a", pods=["wanted"], made="2026-01-01T00:00:01Z")
    steering.plans.follow([added(newer), added(older)])

    assert steering.plans.node_of("wanted") == "a"

    steering.plans.follow([gone(newer)])
    assert steering.plans.node_of("wanted") == "b"

    steering.plans.follow([gone(older)])
    assert steering.plans.node_of("wanted") == ""


@pytest.mark.parametrize("phase", ["Unmet", "Deprovisioning"])
def test_a_plan_that_came_to_nothing_steers_nobody(phase: str) -> None:
    steering = a_cluster()
    asked = a_request("a", pods=["wanted"], phase="Pending")
    steering.plans.follow([added(asked)])
    steering.plans.follow([changed(asked, a_request("a", pods=["wanted"], phase=phase))])

    assert steering.plans.node_of("wanted") == ""


def test_a_node_with_the_mark_of_going_comes_last_until_the_mark_is_taken_off() -> None:
    steering = a_cluster()
    marked = a_node("d", taints=[SCALE_DOWN_TAINT])
    steering.follow_nodes([changed(a_node("d"), marked)])

    assert ranked(steering) == {"a": 1, "b": 2, "c": 3, "d": 0}

    steering.follow_nodes([changed(marked, a_node("d"))])
    assert ranked(steering)["d"] == 3


def test_a_node_that_is_being_deleted_comes_last() -> None:
    steering = a_cluster()
    going = a_node("d", deletionTimestamp="2026-01-01T00:00:00Z")
    steering.follow_nodes([changed(a_node("d"), going)])

    assert ranked(steering)["d"] == 0


def test_a_node_whose_removal_is_asked_for_comes_last_even_if_it_was_bought_for_the_pod() -> None:
    steering = a_cluster()
    steering.plans.follow([added(a_request("d", pods=["wanted"]))])
    removal = a_removal("d")
    steering.follow_removals([added(removal)])

    assert ranked(steering, uid="wanted")["d"] == 0

    steering.follow_removals([gone(removal)])
    assert ranked(steering, uid="wanted")["d"] == 10


def test_pods_that_move_end_or_go_leave_room_behind() -> None:
    steering = a_cluster()
    ended = a_pod("d0", node="d")
    steering.follow_pods([changed(ended, a_pod("d0", node="d", phase="Succeeded"))])
    steering.follow_pods([gone(a_pod("d1", node="d")), gone(a_pod("d2", node="d"))])
    steering.follow_pods([changed(a_pod("new"), a_pod("new", node="a", cpu="3"))])

    assert ranked(steering) == {"a": 3, "b": 1, "c": 2, "d": 1}


def contents(seats: Seats) -> dict[str, Any]:
    return {name: len(value) for name, value in vars(seats).items()}


def test_nothing_is_kept_of_nodes_and_pods_that_are_gone() -> None:
    steering = a_cluster()
    pods = [
        a_pod(f"{node}{n}", node=node) for count, node in enumerate(NODES) for n in range(count)
    ]
    steering.follow_nodes([gone(a_node(name)) for name in NODES])
    steering.follow_pods([gone(pod) for pod in pods])
    request = a_request("a", pods=["wanted"], workloads={"web": 2})
    steering.follow_requests([added(request)])
    steering.follow_requests([gone(request)])

    empty, parts = Steering(), {"plans", "seats", "opening"}
    kept = {name: value for name, value in vars(steering).items() if name not in parts}
    assert kept == {name: value for name, value in vars(empty).items() if name not in parts}
    assert vars(steering.plans) == vars(empty.plans)
    assert contents(steering.seats) == contents(empty.seats)
    assert vars(steering.opening) == vars(empty.opening)


def test_a_node_without_figures_counts_as_empty() -> None:
    steering = Steering()
    steering.follow_nodes([added(a_node("a", cpu="0", memory="0"))])
    steering.follow_pods([added(a_pod("p", node="a"))])

    assert ranked(steering, hosts=["a"]) == {"a": 3}


HOSTS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(
    hosts=HOSTS,
    planned=st.sampled_from("abcdefgh"),
    fullness=st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 2)),
    leaving=st.sets(st.sampled_from("abcdefgh")),
)
def test_every_node_gets_a_score_and_no_fuller_one_gets_less(
    hosts: list[str], planned: str, fullness: dict[str, float], leaving: set[str]
) -> None:
    found = scores(hosts, planned=planned, fullness=fullness, leaving=leaving)

    assert list(found) == hosts
    assert all((found[host] == 0) == (host in leaving) for host in hosts)
    assert all((found[host] == 10) == (host == planned) for host in hosts if host not in leaving)
    others = [host for host in hosts if host not in leaving and host != planned]
    by_fullness = sorted(others, key=lambda host: fullness.get(host, 0.0))
    assert [found[host] for host in by_fullness] == sorted(found[host] for host in others)


@given(
    hosts=HOSTS,
    fullness=st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 2)),
    lacking=st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 2)),
)
def test_what_is_promised_to_others_comes_last_and_where_they_lack_most_at_the_very_end(
    hosts: list[str], fullness: dict[str, float], lacking: dict[str, float]
) -> None:
    found = scores(hosts, planned="", fullness=fullness, leaving=set(), lacking=lacking)

    free = [host for host in hosts if host not in lacking]
    if free:
        assert all((found[host] == 0) == (host in lacking) for host in hosts)
        assert {host: found[host] for host in free} == scores(
            free, planned="", fullness=fullness, leaving=set()
        )
    else:
        by_lack = sorted(hosts, key=lambda host: -lacking[host])
        assert [found[host] for host in by_lack] == sorted(found.values())


@given(st.dictionaries(st.text(max_size=2), st.sampled_from([0, 1, 2, 3, 10])))
def test_what_is_not_told_changes_no_order(scored: dict[str, int]) -> None:
    told = better_scores(scored)

    # A node that isn't named has 0 to the scheduler.
    as_seen = {host: told.get(host, 0) for host in scored}
    for one, other in permutations(scored, 2):
        assert (as_seen[one] < as_seen[other]) == (scored[one] < scored[other])
    assert all(told[host] == scored[host] for host in told)


def test_only_nodes_that_are_better_than_the_worst_are_told() -> None:
    assert better_scores({"a": 1, "b": 1, "c": 2, "d": 3}) == {"c": 2, "d": 3}
    assert better_scores({"a": 1, "going": 0}) == {"a": 1}
    assert better_scores({"a": 3, "b": 3}) == {}
    assert better_scores({"bought": 10}) == {"bought": 10}
