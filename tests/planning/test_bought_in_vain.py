"""Machines that came and didn't serve whom they were bought for: a few, and then a reason."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from growth.scheduling.metadata import ObservedCondition
from reconciler.planning.nominations import Nominated, carried_on
from tests.planning.driver import Planner
from tests.reconciler.build import (
    START,
    WHOLE,
    at,
    node_class,
    pool,
    request,
    waiting,
    world,
)
from tests.scheduling import build

ONLY_SMALL = [{"name": "small", "max": 300}]


def serving(made: Any, *, now: float, **fields: Any) -> tuple[Any, Any]:
    """The request's machine has joined and its node serves."""
    labels = {"growth.dev/pool": "default", "growth.dev/instance-type": "small"}
    node = build.node(made.name, labels=labels, **fields)
    ready = msgspec.structs.replace(node.status, conditions=(ObservedCondition("Ready", "True"),))
    status = {"phase": "Ready", "readyAt": START + timedelta(seconds=now), "nodeName": made.name}
    request = made.model_copy(update={"status": made.status.model_validate(status)})
    return request, msgspec.structs.replace(node, status=ready)


def lives_through(planner: Planner, *, seconds: float, **node: Any) -> int:
    """Machines bought while each one becomes such a node five seconds later."""
    bought = 0
    while planner.now < 100 + seconds:
        for made in planner.until(planner.now + 5):
            bought += 1
            planner.put(*serving(made, now=planner.now, **node))
    return bought


def test_a_node_smaller_than_promised_is_bought_once_and_not_235_times() -> None:
    pod = waiting(requests={"cpu": "1", "memory": "3900Mi"})
    planner = Planner(pod, pool(serverTypes=ONLY_SMALL), node_class())
    assert lives_through(planner, seconds=1700, cpu="2", memory="3700Mi") == 1
    (told,) = planner.memory.tries.values()
    assert "similar pods couldn't use" in told.reason


@pytest.mark.parametrize("kind", ["pods", "nodes"])
def test_while_nothing_is_heard_nobody_says_that_a_machine_was_bought_in_vain(kind: str) -> None:
    """Its pod may be bound already, and its type would be shunned for half an hour."""
    pod = waiting()
    planner = Planner(pod, pool(serverTypes=ONLY_SMALL), node_class())
    (made,) = planner.soon()
    planner.put(*serving(made, now=planner.now))
    planner.health = {kind: msgspec.structs.replace(WHOLE, blind_since=planner.now)}
    assert planner.until(planner.now + 300) == []
    assert planner.memory.nominated.unserved == {}

    planner.health = {}
    # When it is heard that the pod was bound all the time:
    planner.remove(pod)
    assert planner.until(planner.now + 300) == []
    assert planner.memory.nominated.unserved == {}


def test_a_type_that_has_shown_to_be_too_small_is_never_bought_for_the_pod() -> None:
    pod = waiting(requests={"cpu": "1", "memory": "3900Mi"})
    learnt = {"serverType": "small", "resources": {"cpu": "2", "memory": "3700Mi", "pods": "110"}}
    made = pool(serverTypes=ONLY_SMALL)
    told = made.status.model_validate({"learntAllocatable": [learnt]})
    planner = Planner(pod, made.model_copy(update={"status": told}), node_class())
    assert planner.until(1000) == []
    (left,) = planner.memory.tries.values()
    assert "3.6Gi" in left.reason


def test_of_nodes_that_somebody_taints_at_once_two_are_bought() -> None:
    types = [
        {
            "name": f"type-{number}",
            "resources": {"cpu": str(2 + number), "memory": "8Gi", "pods": "110"},
            "offers": [{"location": "here", "price": str(1 + number)}],
        }
        for number in range(6)
    ]
    everything = [{"name": each["name"], "max": 300} for each in types]
    pod = waiting(requests={"cpu": "1"})
    planner = Planner(pod, pool(serverTypes=everything), node_class(types=types))
    taints = [{"key": "others.example/quarantine", "effect": "NoSchedule"}]
    assert lives_through(planner, seconds=1600, taints=taints) == 2
    assert planner.events, "somebody is told"


def test_a_restart_forgets_nothing_that_was_bought_in_vain() -> None:
    pod = waiting(requests={"cpu": "1"})
    told = {
        "owner": "Pod/default/web-0",
        "shape": pod.shape,
        "offering": "kwok-small",
        "until": START + timedelta(seconds=1000),
    }
    made = pool(serverTypes=ONLY_SMALL)
    status = made.status.model_validate({"unserved": [told]})
    planner = Planner(pod, made.model_copy(update={"status": status}), node_class())
    assert planner.until(900) == []
    assert len(planner.until(1100)) == 1


@pytest.mark.parametrize("names", [("default-a", "default-b"), ("default-b", "default-a")])
def test_a_restart_knows_the_machine_that_comes_after_one_in_vain(names: tuple[str, str]) -> None:
    """Both requests name the pod, and their names say nothing of their order."""
    pod, (first, second) = waiting(), names
    in_vain = {"phase": "Ready", "readyAt": START - timedelta(seconds=600)}
    seen = world(
        pod,
        pool(),
        request(first, pods=(pod,), status=in_vain),
        request(second, pods=(pod,), status={"phase": "Provisioning"}),
    )
    after_it = carried_on(Nominated(), seen, seen.requests, at(100))
    assert [place.machine for place in after_it.places.values()] == [second]
