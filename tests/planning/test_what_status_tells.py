"""What the status of a pool tells of pods without a place, from planning's memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from growth.api.nodepool_status import NodePoolStatus
from reconciler.planning.nominations import Nominated, Nomination
from reconciler.planning.tries import LeftOutCause, Try
from reconciler.planning.unplaced import MOST_PODS, unplaced_by_pool
from tests.planning.driver import Planner
from tests.reconciler.build import START, at, node_class, pool, request, waiting

if TYPE_CHECKING:
    from growth.api.nodepool_status import UnplacedPod, UnservedShape
    from reconciler.planning.unplaced import Lacking

HUGE = {"cpu": "100"}
ONE = {"cpu": "1"}


def lacking(planner: Planner) -> dict[str, Lacking]:
    found = unplaced_by_pool(planner._world(), planner.memory, at(planner.now))
    for each in found:
        # What is told has to be something that the definition of NodePool admits.
        status = NodePoolStatus(unplaced=each.unplaced, unserved=each.unserved)
        NodePoolStatus.model_validate(status.model_dump(mode="json", by_alias=True))
    return {each.pool: each for each in found}


def left_out(planner: Planner, name: str = "default") -> tuple[UnplacedPod, ...]:
    return lacking(planner)[name].unplaced


def test_a_pod_that_no_offer_holds_is_told_with_its_reason_its_tries_and_its_next_try() -> None:
    planner = Planner(waiting("huge", requests=HUGE), pool(), node_class())
    planner.until(102.5)
    (entry,) = left_out(planner)
    assert (entry.pod.namespace, entry.pod.name) == ("shop", "huge")
    assert "needs 100 of cpu" in entry.reason
    assert entry.tries == planner.memory.tries[entry.pod.uid].count == 3
    assert entry.next_try == START + timedelta(seconds=104)


def test_a_pod_in_back_off_has_no_next_try() -> None:
    planner = Planner(waiting("huge", requests=HUGE), pool(), node_class())
    planner.until(10_000)
    (entry,) = left_out(planner)
    assert (entry.tries, entry.next_try) == (13, None)


def test_the_same_memory_tells_the_same_a_moment_later() -> None:
    planner = Planner(waiting("huge", requests=HUGE), pool(), node_class())
    planner.until(110)
    before = lacking(planner)
    planner.now += 0.4
    assert lacking(planner) == before


def test_a_pod_with_a_place_is_not_told_of() -> None:
    planner = Planner(waiting("web", requests=ONE), pool(), node_class())
    planner.soon()
    assert left_out(planner) == ()


def test_a_pod_that_was_promised_a_place_since_is_not_told_of() -> None:
    pod = waiting("huge", requests=HUGE)
    planner = Planner(pod, pool(), node_class())
    planner.until(110)
    place = Nomination(machine="new", shape=pod.shape, is_bought_for=True)
    nominated = Nominated(places={pod.metadata.uid: place})
    memory = replace(planner.memory, nominated=nominated)
    (told,) = unplaced_by_pool(planner._world(), memory, at(110))
    assert told.unplaced == ()


def test_a_pod_that_is_gone_is_not_told_of() -> None:
    pod = waiting("huge", requests=HUGE)
    planner = Planner(pod, pool(), node_class())
    planner.until(110)
    planner.remove(pod)
    assert left_out(planner) == ()


def test_each_pool_tells_of_the_pods_that_may_use_it() -> None:
    two = {"matchExpressions": [{"key": "growth.dev/pool", "operator": "In", "values": ["a", "b"]}]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [two]}
        }
    }
    both = waiting("both", requests=HUGE, affinity=affinity)
    only = waiting("only", requests=HUGE, nodeSelector={"growth.dev/pool": "b"})
    planner = Planner(both, only, pool("a"), pool("b"), pool(), node_class())
    planner.until(110)
    told = {name: [e.pod.name for e in each.unplaced] for name, each in lacking(planner).items()}
    assert told == {"a": ["both"], "b": ["both", "only"], "default": []}


def test_a_pod_without_any_pool_is_in_no_status() -> None:
    pod = waiting(requests=ONE, nodeSelector={"growth.dev/pool": "none"})
    planner = Planner(pod, pool(), node_class())
    planner.until(110)
    assert planner.memory.tries[pod.metadata.uid].cause is LeftOutCause.POOL_NOT_FOUND
    assert left_out(planner) == ()


def test_of_too_many_the_most_urgent_are_told() -> None:
    pods = [waiting(f"web-{number:02}", requests=HUGE, priority=number % 2) for number in range(80)]
    planner = Planner(*pods, pool(), node_class())
    planner.until(101)
    told = [entry.pod.name for entry in left_out(planner)]
    urgent = [f"web-{number:02}" for number in range(1, 80, 2)]
    others = [f"web-{number:02}" for number in range(0, 80, 2)]
    assert told == [*urgent, *others][:MOST_PODS]


def test_a_reason_is_cut_to_what_the_definition_admits() -> None:
    pod = waiting("huge", requests=HUGE)
    planner = Planner(pod, pool(), node_class())
    planner.until(101)
    tries = {pod.metadata.uid: Try(count=1, counted_at=101, reason="x" * 5000)}
    memory = replace(planner.memory, tries=tries)
    (told,) = unplaced_by_pool(planner._world(), memory, at(101))
    assert len(told.unplaced[0].reason) == 1024


def in_vain(*pods: Any) -> dict[str, tuple[UnservedShape, ...]]:
    """Pools after a small machine was bought for these pods and didn't serve them."""
    planner = Planner(*pods, pool(), pool("other"), node_class())
    planner.until(101)
    vain = {(pods[0].shape, "kwok-small"): 1900.0, (pods[0].shape, "kwok-gone"): 1900.0}
    nominated = Nominated(unserved=vain)
    memory = replace(planner.memory, nominated=nominated)
    return {
        each.pool: each.unserved for each in unplaced_by_pool(planner._world(), memory, at(101))
    }


def test_what_was_bought_in_vain_is_told_with_its_owner_and_its_end() -> None:
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": True}
    owned = {"ownerReferences": [owner]}
    pods = [waiting(name, requests=ONE, metadata=owned) for name in ("web-a", "web-b")]
    told = in_vain(*pods)
    (entry,) = told["default"]
    assert (entry.owner, entry.shape) == ("ReplicaSet/shop/web", pods[0].shape)
    assert (entry.offering, entry.until) == ("kwok-small", START + timedelta(seconds=1900))
    assert told["other"] == ()


def test_a_pod_that_nobody_manages_is_its_own_owner() -> None:
    (entry,) = in_vain(waiting("alone", requests=ONE))["default"]
    assert entry.owner == "Pod/shop/alone"


def test_what_was_bought_in_vain_ends_with_its_time() -> None:
    pod = waiting(requests=ONE)
    planner = Planner(pod, pool(), node_class(), request())
    planner.until(101)
    nominated = Nominated(unserved={(pod.shape, "kwok-small"): 101.0})
    memory = replace(planner.memory, nominated=nominated)
    (told,) = unplaced_by_pool(planner._world(), memory, at(101))
    assert told.unserved == ()
