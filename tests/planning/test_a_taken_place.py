"""Others were faster: who has lost a place is planned for anew, and doesn't wait for long."""

from __future__ import annotations

import msgspec

from reconciler.planning.nominations import Nominated, Nomination, carried_on
from tests.reconciler.build import at, pool, request, waiting, world
from tests.removal.build import NAME, node
from tests.scheduling import build


def kept(*, room: str, taken: str, daemon: str = "0", since: float = 98.0) -> frozenset[str]:
    """Who keeps the place on a node that has served for a while, of one who needs 1 CPU."""
    pod = waiting(requests={"cpu": "1"})
    serving = node()
    sized = {**serving.status.allocatable, "cpu": room}
    status = msgspec.structs.replace(serving.status, allocatable=sized)
    small = msgspec.structs.replace(serving, status=status)
    of_daemon = {"ownerReferences": [{"kind": "DaemonSet", "name": "log", "controller": True}]}
    others = [
        build.pod("thief", requests={"cpu": taken}, on=NAME),
        build.pod("log", requests={"cpu": daemon}, metadata=of_daemon, on=NAME),
    ]
    place = Nomination(machine=NAME, shape=pod.shape, is_bought_for=True, since=since)
    before = Nominated(places={pod.metadata.uid: place})
    bought = request(NAME, status={"phase": "Ready"})
    seen = world(small, pod, *others, bought, pool())
    return frozenset(carried_on(before, seen, seen.requests, at(100)).places)


def test_a_place_with_room_for_it_is_waited_for() -> None:
    assert kept(room="2", taken="1")


def test_a_place_that_others_have_taken_is_given_up_soon() -> None:
    assert not kept(room="2", taken="1500m")


def test_as_long_as_the_scheduler_was_at_work_a_moment_ago_nothing_is_settled() -> None:
    assert kept(room="2", taken="1500m", since=99.5)


def test_a_node_that_is_too_small_even_alone_is_judged_in_time() -> None:
    """It tells something of its type, if it stays so: others have nothing to do with it."""
    assert kept(room="2", taken="1500m", daemon="1500m")
    assert kept(room="500m", taken="200m")
