"""How long pods take from pending to bound, stage by stage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reconciler.figures.journeys import Arrived, Journeys, JourneyStage, Passed, Seat
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, Nomination
from tests.reconciler.build import RELEASED, at, request, waiting, world
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

EARLY = waiting("early")
POD = waiting("web-0")
MACHINE = "default-1"


def placed(pod: Pod, *, is_bought_for: bool = True) -> Ledger:
    """The memory after a plan that has a place for the pod."""
    place = Nomination(machine=MACHINE, shape=pod.shape, is_bought_for=is_bought_for)
    requests = {MACHINE: request(pods=(pod,))} if is_bought_for else {}
    planning = PlanningLedger(
        nominated=Nominated(places={pod.metadata.uid: place}), unconfirmed=requests
    )
    return Ledger(brakes=RELEASED, planning=planning)


def bound(pod: Pod) -> Pod:
    spec = msgspec.structs.replace(pod.spec, node_name=MACHINE)
    return msgspec.structs.replace(pod, spec=spec)


class Watching:
    """Journeys, told one world after the other."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.journeys = Journeys(lambda namespace, name: self.pods.get(f"{namespace}/{name}"))
        self.see(world(EARLY), 0.0)

    def see(self, seen: World, seconds: float) -> list[Passed | Arrived]:
        return list(self.journeys.follow(seen, at(seconds)))

    def bind(self, pod: Pod, seconds: float) -> list[Passed | Arrived]:
        self.pods[pod.name] = bound(pod)
        return self.see(world(EARLY), seconds)


def with_request(phase: str, **changes: Any) -> World:
    coming = request(pods=(POD,), status={"phase": phase})
    ledger = replace(
        placed(POD),
        planning=replace(placed(POD).planning, unconfirmed={}),
    )
    return world(EARLY, POD, coming, **{"ledger": ledger, **changes})


def test_each_stage_counts_from_the_one_before() -> None:
    watching = Watching()
    node = build.node(MACHINE)

    assert watching.see(world(EARLY, POD), 10.0) == []
    assert watching.see(world(EARLY, POD, ledger=placed(POD)), 10.5) == [
        Passed(JourneyStage.PLANNED, 0.5)
    ]
    assert watching.see(with_request("Pending"), 10.75) == [Passed(JourneyStage.REQUESTED, 0.25)]
    assert watching.see(with_request("Provisioning"), 11.75) == [Passed(JourneyStage.CREATED, 1.0)]
    joined = with_request("Provisioning")
    cluster = world(node).cluster
    assert watching.see(msgspec.structs.replace(joined, cluster=cluster), 31.75) == [
        Passed(JourneyStage.JOINED, 20.0)
    ]
    assert watching.bind(POD, 33.75) == [
        Passed(JourneyStage.BOUND, 2.0),
        Arrived(23.75, Seat.PLANNED),
    ]


@pytest.mark.parametrize(("workload", "seat"), [("web-0", Seat.PLANNED), ("another", Seat.OTHER)])
def test_a_pod_on_another_machine_is_where_it_was_planned_if_that_was_bought_for_its_workload(
    workload: str, seat: Seat
) -> None:
    watching = Watching()
    watching.see(world(EARLY, POD, ledger=placed(POD)), 10.0)
    told = {"kind": "Pod", "namespace": POD.metadata.namespace, "name": workload, "pods": 1}
    other = request("default-2", workloads=[told])
    spec = msgspec.structs.replace(POD.spec, node_name="default-2")
    watching.pods[POD.name] = msgspec.structs.replace(POD, spec=spec)

    assert watching.see(world(EARLY, other), 12.0)[-1] == Arrived(2.0, seat)


def test_stages_that_pass_unseen_are_counted_together() -> None:
    watching = Watching()
    watching.see(world(EARLY, POD, ledger=placed(POD)), 10.0)

    seen = watching.see(with_request("Provisioning"), 12.0)

    assert seen == [Passed(JourneyStage.REQUESTED, 2.0), Passed(JourneyStage.CREATED, 0.0)]


def test_a_pod_that_finds_room_knows_no_machine() -> None:
    watching = Watching()
    watching.see(world(EARLY, POD, ledger=placed(POD, is_bought_for=False)), 10.0)
    watching.see(with_request("Provisioning"), 12.0)

    assert watching.bind(POD, 13.0) == [
        Passed(JourneyStage.BOUND, 3.0),
        Arrived(3.0, Seat.NONE),
    ]


@pytest.mark.parametrize("phase", ["Unmet", "Deprovisioning"])
def test_a_pod_whose_machine_comes_to_nothing_is_planned_again(phase: str) -> None:
    watching = Watching()
    watching.see(world(EARLY, POD, ledger=placed(POD)), 10.0)
    watching.see(with_request("Pending"), 11.0)

    watching.see(with_request(phase), 12.0)
    again = watching.see(world(EARLY, POD, ledger=placed(POD)), 15.0)

    assert again == [Passed(JourneyStage.PLANNED, 4.0)]


def test_a_request_that_was_given_up_before_anybody_saw_it_is_planned_again() -> None:
    watching = Watching()
    watching.see(world(EARLY, POD, ledger=placed(POD)), 10.0)

    watching.see(world(EARLY, POD), 12.0)

    assert watching.see(world(EARLY, POD, ledger=placed(POD)), 15.0) == [
        Passed(JourneyStage.PLANNED, 5.0)
    ]


def test_a_pod_that_is_deleted_has_arrived_nowhere() -> None:
    watching = Watching()
    watching.see(world(EARLY, POD), 10.0)

    assert watching.see(world(EARLY), 11.0) == []
    assert watching.see(world(EARLY), 12.0) == []


def test_another_pod_of_the_same_name_is_another_one() -> None:
    watching = Watching()
    watching.see(world(EARLY, POD), 10.0)
    other = msgspec.structs.replace(POD.metadata, uid="another")

    assert watching.bind(msgspec.structs.replace(POD, metadata=other), 11.0) == []


def test_what_waited_before_the_first_look_was_seen_by_somebody_else() -> None:
    created = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    before, after = (waiting(name, metadata=created) for name in ("before", "after"))
    journeys = Journeys(lambda *_: None)

    first = list(journeys.follow(world(before), at(100.0)))
    second = list(journeys.follow(world(before, after), at(101.0)))

    assert first == []
    assert second == [Passed(JourneyStage.SEEN, 101.0)]
