"""Pods that were only announced have a seat on the machine that was bought for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from growth.api.written import write_time
from growth.demand.announced import Announced
from growth.scheduling.owners import Owner
from reconciler.planning.nominations import Nominated, Nomination
from reconciler.planning.seats import free, seated
from tests.planning.driver import Planner, bought
from tests.reconciler.build import at, node_class, pool, request, waiting, world
from tests.removal.build import NAME, node
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from growth.scheduling.pod import Pod

TWO_CPU = {"cpu": "1900m", "memory": "1Gi"}
NONE_NOMINATED = Nominated()
WEB = Owner("ReplicaSet", "shop", "web")


def of(workload: str, number: int, **fields: Any) -> Pod:
    """A pod of a ReplicaSet that the scheduler has given up on."""
    return waiting(f"{workload}-{number}", **_made_by(workload), **{"requests": TWO_CPU} | fields)


def _made_by(workload: str) -> dict[str, Any]:
    reference = {"kind": "ReplicaSet", "name": workload, "uid": workload, "controller": True}
    return {"metadata": {"ownerReferences": [reference]}}


def announced(missing: int, *, since: float = 99.0) -> dict[str, Announced]:
    like = build.pod("web-announced", requests=TWO_CPU, **_made_by("web"))
    when = write_time(at(since).wall)
    return {"web": Announced(missing=missing, like=like, since=when)} if missing else {}


def planner(**changes: Any) -> Planner:
    """One pod of web waits, three more are announced: a large machine is bought for the four."""
    found = Planner(of("web", 0), pool(), node_class())
    found.announced = announced(3)
    vars(found).update(changes)
    assert bought(found.soon()) == [("large", 1)]
    return found


def come(found: Planner, *numbers: int, **fields: Any) -> list[NodeRequest]:
    """These pods of web have been made; what is bought then."""
    found.announced = announced(3 - len(numbers))
    found.put(*(of("web", number, **fields) for number in numbers))
    return found.soon()


def test_a_request_tells_how_many_pods_of_which_workload_it_is_for() -> None:
    (made,) = planner().created
    (told,) = made.spec.workloads
    assert (told.kind, told.namespace, told.name, told.pods) == ("ReplicaSet", "shop", "web", 4)
    assert [pod.name for pod in made.spec.pods] == ["web-0"]


def failing() -> Planner:
    """Creates fail, and the one pod that the request names has found another node meanwhile."""
    found = Planner(of("web", 0), pool(), node_class())
    found.announced = announced(3)
    found.creates_fail = True
    assert found.soon() == []
    found.put(build.pod("web-0", on="elsewhere", **_made_by("web")))
    assert found.until(105) == []
    found.creates_fail = False
    return found


def test_a_create_that_failed_is_tried_again_for_pods_that_are_still_to_come() -> None:
    assert bought(failing().soon()) == [("large", 1)]


def test_a_create_that_failed_is_dropped_when_those_who_were_to_come_do_not() -> None:
    found = failing()
    found.announced = announced(0)
    assert found.soon() == []


def test_who_comes_is_promised_a_seat_and_nobody_is_asked_again() -> None:
    found = planner()
    assert come(found, 1, 2, 3) == []
    assert len(found.problems) == 1
    (made,) = found.created
    assert {place.machine for place in found.memory.nominated.places.values()} == {made.name}
    assert len(found.memory.nominated.places) == 4


def test_seats_of_those_who_are_still_to_come_are_given_to_nobody_else() -> None:
    found = planner()
    found.put(of("other", 0))
    assert bought(found.soon()) == [("small", 1)]


def test_who_has_a_seat_is_not_announced_again() -> None:
    found = planner()
    found.put(of("other", 0))
    found.soon()
    assert [each.count for each in found.problems[-1].classes] == [1]


def test_seats_of_those_who_do_not_come_are_room_like_any_other() -> None:
    found = planner()
    found.until(found.now + 40.0)
    found.put(of("other", 0))
    assert found.soon() == []


def test_those_for_whom_no_seat_is_left_are_planned_for() -> None:
    found = planner()
    assert bought(come(found, 1, 2, 3, 4)) == [("small", 1)]


def test_who_is_larger_than_announced_takes_no_more_seats_than_have_room_for_it() -> None:
    found = planner()
    assert bought(come(found, 1, 2, 3, requests={"cpu": "2500m"})) == [("large", 1)]


def test_after_a_restart_seats_are_known_from_the_requests() -> None:
    found = planner(dies_after=[1])
    assert come(found, 1, 2, 3) == []
    assert found.dies_after == []
    assert len(found.problems) == 1


def on_a_machine(*there: Pod, cordoned: bool = False, **status: Any) -> Any:
    """A machine for four of web, with these on it."""
    told = [{"kind": "ReplicaSet", "namespace": "shop", "name": "web", "pods": 4}]
    made = request(NAME, status={"phase": "Ready"} | status, workloads=told)
    return world(node(unschedulable=cordoned), made, pool(), *there)


def seats(seen: Any, nominated: Nominated = NONE_NOMINATED) -> int:
    return len(free({WEB}, seen, seen.requests, nominated, at(100)).get(WEB, []))


def test_seats_are_counted_until_the_machine_has_served_for_a_while() -> None:
    assert seats(on_a_machine(readyAt=write_time(at(50).wall))) == 4
    assert seats(on_a_machine(readyAt=write_time(at(30).wall))) == 0


def test_a_node_that_a_person_has_cordoned_has_no_seat_for_anybody() -> None:
    assert seats(on_a_machine(cordoned=True, readyAt=write_time(at(99).wall))) == 0


def test_a_node_that_does_not_serve_a_shape_has_no_seat_for_it() -> None:
    seen = on_a_machine(readyAt=write_time(at(99).wall))
    pod = of("web", 1, requests={"cpu": "100m"})
    nominated = Nominated()
    assert seated({"1": pod}, seen, seen.requests, nominated, at(100)).keys() == {"1"}
    declined = msgspec.structs.replace(nominated, declined={(NAME, pod.shape): "7"})
    assert seated({"1": pod}, seen, seen.requests, declined, at(100)) == {}


def test_who_could_not_be_bound_there_by_the_rules_has_no_seat_on_a_node_that_serves() -> None:
    seen = on_a_machine(readyAt=write_time(at(99).wall))
    pod = of("web", 1, requests={"cpu": "100m"}, nodeSelector={"disk": "fast"})
    assert seated({"1": pod}, seen, seen.requests, Nominated(), at(100)) == {}


@given(there=st.integers(0, 6), promised=st.integers(0, 6), others=st.integers(0, 3))
def test_a_seat_is_free_for_each_that_is_neither_there_nor_promised(
    there: int, promised: int, others: int
) -> None:
    small = {"requests": {"cpu": "1m"}}
    running = [build.pod(f"run-{n}", **_made_by("web"), on=NAME) for n in range(there)]
    strangers = [build.pod(f"other-{n}", **_made_by("other"), on=NAME) for n in range(others)]
    coming = [of("web", n, **small) for n in range(promised)]
    seen = on_a_machine(*running, *strangers, *coming, readyAt=write_time(at(99).wall))
    places = {
        uid: Nomination(machine=NAME, shape=pod.shape, is_bought_for=True)
        for uid, pod in seen.pending.items()
    }
    assert seats(seen, Nominated(places=places)) == max(0, 4 - there - promised)
