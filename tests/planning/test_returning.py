"""Who fits on a node that is about to go has it back at once, without a plan."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.fits import feasible_nodes
from growth.scheduling.resources import CPU
from reconciler.planning import returning
from reconciler.planning.nominations import Nominated
from reconciler.planning.returning import taken_back
from tests.planning.driver import Planner, bought
from tests.planning.test_all_at_once import many, serving
from tests.reconciler.build import at, node_class, pool, waiting, world
from tests.scheduling import build

MARK = {"key": "growth.dev/scale-down", "effect": "NoSchedule", "value": "1767225600"}


def marked(name: str, *, cpu: str = "2", **fields: Any) -> Any:
    return serving(name, cpu=cpu, taints=[MARK], **fields)


def planner(*objects: Any) -> Planner:
    return Planner(*objects, pool(), node_class())


def places(found: Planner) -> dict[str, str]:
    """The node of each pod that has been promised one."""
    pods = {each.metadata.uid: each.metadata.name for each in found.objects.values()}
    return {pods[uid]: place.machine for uid, place in found.memory.nominated.places.items()}


def after_one_pass(*objects: Any) -> Planner:
    found = planner(*objects)
    found.until(found.now + 0.001)
    return found


def test_a_pod_that_fits_has_its_place_in_the_first_pass_and_nobody_is_asked() -> None:
    found = after_one_pass(*many(1), marked("idle"))
    assert places(found) == {"web-0": "idle"}
    assert bought(found.soon()) == []
    assert found.problems == []


def test_the_rest_of_a_wave_is_planned_for_as_ever() -> None:
    found = after_one_pass(*many(4), marked("idle"))
    assert len(places(found)) == 2
    assert bought(found.soon()) == [("small", 2)]
    assert [sum(each.count for each in one.classes) for one in found.problems] == [2]


def test_as_few_nodes_come_back_as_it_takes() -> None:
    small, large = waiting("small", requests={"cpu": "1"}), waiting("large", requests={"cpu": "3"})
    nodes = [marked("roomy", cpu="8"), marked("tight", cpu="4"), marked("tight-too", cpu="4")]
    assert places(after_one_pass(small, large, *nodes)) == {"large": "tight", "small": "tight"}


def test_rules_of_the_scheduler_hold() -> None:
    picky = waiting("picky", requests={"cpu": "1"}, nodeSelector={"disk": "fast"})
    assert places(after_one_pass(picky, marked("slow"))) == {}
    assert places(after_one_pass(picky, marked("fast", labels={"disk": "fast"}))) == {
        "picky": "fast"
    }


def test_what_a_person_has_cordoned_or_fell_silent_is_nobody_s() -> None:
    assert places(after_one_pass(*many(1), marked("closed", unschedulable=True))) == {}
    silent = build.node("silent", cpu="2", taints=[MARK])
    assert places(after_one_pass(*many(1), silent)) == {}


def test_a_node_that_the_scheduler_did_not_use_is_not_promised_twice() -> None:
    found = planner(*many(1), marked("idle"))
    found.until(found.now + 16)
    assert places(found) != {"web-0": "idle"}
    assert bought(found.created) == [("small", 1)]


def test_a_wave_that_is_large_has_time_for_a_plan() -> None:
    found = after_one_pass(*many(returning.MOST + 1), marked("idle", cpu="64"))
    assert places(found) == {}


CPUS = st.integers(min_value=1, max_value=5)


@given(sizes=st.lists(CPUS, max_size=8), nodes=st.lists(CPUS, max_size=4))
def test_nothing_is_promised_twice_and_nobody_is_left_who_fits(
    sizes: list[int], nodes: list[int]
) -> None:
    pods = [waiting(f"web-{n}", requests={"cpu": str(cpu)}) for n, cpu in enumerate(sizes)]
    there = [marked(f"idle-{number}", cpu=str(cpu)) for number, cpu in enumerate(nodes)]
    seen = world(*pods, *there, pool(), node_class())
    asking = {pod.metadata.uid: pod for pod in pods}
    found = taken_back(asking, seen, {}, Nominated(), (), at(100))
    left = {each.name: each.allocatable[CPU] for each in there}
    for uid, place in found.items():
        left[place.machine] -= asking[uid].requests[CPU]
    assert all(room >= 0 for room in left.values())
    for uid in asking.keys() - found.keys():
        assert all(asking[uid].requests[CPU] > room for room in left.values())
    assert not any(feasible_nodes(pod, seen.cluster) for pod in pods)
