"""What an owner is about to make is bought for together with what is there."""

from __future__ import annotations

from typing import Any

from growth.api.written import write_time
from growth.demand.announced import Announced
from tests.planning.driver import Planner, bought
from tests.reconciler.build import at, node_class, pool, waiting
from tests.scheduling import build

TWO_CPU = {"cpu": "1900m", "memory": "1Gi"}


def planner(*, since: float = 99.0, missing: int = 3, **spec: Any) -> Planner:
    """One pod of a ReplicaSet waits; so many more have been announced, the last sign at a moment.

    A small machine has room for one of them, a large one for four.
    """
    found = Planner(waiting(requests=TWO_CPU), pool(**spec), node_class())
    like = build.pod("web-announced", requests=TWO_CPU)
    announced = Announced(missing=missing, like=like, since=write_time(at(since).wall))
    found.announced = {"web": announced}
    return found


def test_one_large_machine_is_bought_for_the_one_who_waits_and_those_who_come() -> None:
    assert bought(planner().soon()) == [("large", 1)]


def test_machines_are_bought_for_those_alone_who_come() -> None:
    assert bought(planner(missing=7).soon()) == [("large", 0), ("large", 1)]


def test_an_owner_that_makes_nothing_any_more_is_not_waited_for() -> None:
    assert bought(planner(since=60.0).soon()) == [("small", 1)]


def test_without_anybody_who_waits_nothing_is_bought() -> None:
    alone = planner()
    alone.remove(waiting())
    assert alone.soon() == []


def test_those_who_come_are_not_bought_for_twice() -> None:
    once = planner()
    once.soon()
    once.announced = {}
    once.put(*(waiting(f"web-{number}", requests=TWO_CPU) for number in range(1, 4)))
    assert once.soon() == []


def test_where_not_all_can_have_a_place_those_who_are_there_have_it() -> None:
    small = planner(missing=9, limits={"nodes": 1}, serverTypes=[{"name": "small", "max": 9}])
    requests = small.soon()
    assert [pod.name for request in requests for pod in request.spec.pods] == ["web-0"]


def test_those_before_their_first_look_are_bought_for_with_one_who_waits() -> None:
    new = {"creationTimestamp": write_time(at(99).wall)}
    unreached = [
        build.pod(f"new-{number}", requests=TWO_CPU, metadata=new, status={"phase": "Pending"})
        for number in range(3)
    ]
    found = planner(missing=0)
    found.announced = {}
    found.put(*unreached)
    assert bought(found.until(found.now + 1.5)) == [("large", 1)]
