"""A machine that waits to be bought is wanted by more pods than its request names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from growth.api.written import write_time
from growth.demand.announced import Announced
from growth.kube.cache.health import CacheHealth
from reconciler.ledger import Ledger
from reconciler.planning.awaited import Awaiting
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, Nomination
from reconciler.providers.port import Throttled
from tests.provisioning.build import NAME, Life, made_at, settled
from tests.reconciler.build import WHOLE, at, waiting, world
from tests.scheduling import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.pod import Pod

BLIND = CacheHealth(is_complete=True, listed_at=0.0, lists=1, blind_since=90.0)


def web(number: int, **fields: Any) -> Pod:
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "web", "controller": True}
    return waiting(f"web-{number}", metadata={"ownerReferences": [owner]}, **fields)


NAMED = build.pod("web-0", on="elsewhere")
"""The one pod that the request names: it has found another node."""


def for_ten(seconds: float = 99, name: str = NAME, *pods: Pod, seats: int = 10) -> NodeRequest:
    """A request that names these pods, and has seats for so many pods of their workload."""
    seat = {"kind": "ReplicaSet", "namespace": "shop", "name": "web", "requests": {"cpu": "100m"}}
    return made_at(seconds, name, pods=pods or (NAMED,), workloads=[seat | {"pods": seats}])


def throttled(*objects: Any) -> Life:
    """The provider asks to wait with the request, longer than anyone looks here."""
    life = Life(NAMED, for_ten(), settled(), *objects)
    life.answer = lambda _: Throttled(seconds=3600)
    return life


def announcing(life: Life) -> None:
    missing = Announced(missing=9, like=web(9), since=write_time(at(99).wall))
    life.extra["announced"] = {"web": missing}


def waiting_for_a_place(life: Life) -> None:
    life.put(web(1))


def promised(life: Life) -> None:
    """Another workload's pod was found room on the machine."""
    pod = waiting("api-0")
    life.put(pod)
    place = Nomination(machine=NAME, shape=pod.shape, is_bought_for=False)
    life.planning = PlanningLedger(nominated=Nominated(places={pod.metadata.uid: place}))


def test_a_promise_counts_only_while_its_pod_waits() -> None:
    pod = waiting("api-0")
    place = Nomination(machine=NAME, shape=pod.shape, is_bought_for=True)
    nominated = Nominated(places={pod.metadata.uid: place})
    seen = world(pod).remembering(Ledger(planning=PlanningLedger(nominated=nominated)))
    for uids, is_awaited in (({pod.metadata.uid}, True), (set[str](), False)):
        awaiting = Awaiting(world=seen, now=at(100), waiting=uids)
        assert awaiting.awaits(made_at(99, pods=(pod,))) is is_awaited


def blind(life: Life) -> None:
    life.extra["sources"] = {"pods": WHOLE, "nodes": WHOLE, "replica_sets": BLIND}


@pytest.mark.parametrize("circumstance", [announcing, waiting_for_a_place, promised, blind])
def test_a_throttled_request_stays_when_its_named_pod_runs_elsewhere_and(
    circumstance: Callable[[Life], None],
) -> None:
    life = throttled()
    circumstance(life)
    life.until(110)
    assert life.phase == "Pending"


def test_a_request_of_a_swap_stays_though_the_pods_of_its_seats_run_elsewhere() -> None:
    """It names none of them: they wait only when their node goes."""
    swap = for_ten().model_copy(update={"spec": for_ten().spec.model_copy(update={"pods": ()})})
    life = Life(build.pod("web-1", on="elsewhere"), swap, settled())
    life.answer = lambda _: Throttled(seconds=3600)
    life.until(110)
    assert life.phase == "Pending"


def elsewhere(life: Life) -> None:
    """The others of the workload have their places on another machine."""
    pod = web(1)
    life.put(pod)
    place = Nomination(machine="default-9", shape=pod.shape, is_bought_for=True)
    life.planning = PlanningLedger(nominated=Nominated(places={pod.metadata.uid: place}))


@pytest.mark.parametrize("circumstance", [lambda _: None, elsewhere], ids=["none", "elsewhere"])
def test_it_goes_when_nobody_awaits_its_seats(circumstance: Callable[[Life], None]) -> None:
    life = throttled()
    circumstance(life)
    life.until(110)
    assert life.phase == ""


@pytest.mark.parametrize(("seats", "is_kept"), [(10, True), (1, False)])
def test_a_later_request_for_the_same_pod_goes_unless_it_has_more_seats(
    seats: int, *, is_kept: bool
) -> None:
    pod = web(0)
    life = Life(pod, for_ten(90, NAME, pod, seats=1), settled())
    life.put(for_ten(95, "default-2", pod, seats=seats))
    life.answer = lambda _: Throttled(seconds=3600)
    life.until(110)
    assert (life.get("NodeRequest", "default-2") is not None) is is_kept
