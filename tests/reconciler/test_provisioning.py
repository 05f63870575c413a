"""The life of a request, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reconciler import provisioning
from reconciler.actions import (
    Action,
    CreateMachine,
    Delete,
    PatchStatus,
    SetFinalizers,
    SetNode,
    machine,
)
from reconciler.providers.port import (
    Accepted,
    Answered,
    CreateAnswer,
    Failed,
    FailureClass,
    Throttled,
    Unmet,
    UnmetScope,
)
from tests.reconciler.build import START, at, node_class, pool, request, world
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from reconciler.world import World

READY = [{"type": "Ready", "status": "True"}]
UNREGISTERED = {"key": "growth.dev/unregistered", "effect": "NoSchedule"}


def steps(seen: World, seconds: float = 100.0) -> list[Action]:
    sequences = provisioning.decide(seen, at(seconds)).sequences
    return [step for sequence in sequences for step in sequence.steps]


def answered(answer: CreateAnswer, *, after: float = 0.0) -> World:
    answers = {"default-1": Answered(at=after, answer=answer)}
    return world(request(), pool(), node_class(), answers=answers)


def status_after(seen: World) -> Any:
    (step,) = steps(seen)
    assert isinstance(step, PatchStatus)
    assert step.version.resource_version == "7"
    return step.status


def test_a_pending_request_asks_the_provider_under_its_own_name() -> None:
    (step,) = steps(world(request(), pool(labels={"team": "a"}), node_class()))
    assert isinstance(step, CreateMachine)
    order = step.order
    assert (order.name, order.request_uid) == ("default-1", "uid-default-1")
    assert order.labels["growth.dev/pool"] == "default"
    assert order.labels["growth.dev/node-request"] == "default-1"
    assert order.labels["team"] == "a"
    assert order.taints[0].text == "growth.dev/unregistered:NoSchedule"


def test_a_request_is_asked_for_once_while_the_provider_has_not_answered() -> None:
    busy = frozenset({machine("default-1")})
    assert not steps(world(request(), pool(), node_class(), busy=busy))


def test_an_accepted_request_is_provisioning_with_the_machines_id() -> None:
    status = status_after(answered(Accepted(machine_id="kwok://default-1")))
    assert (status["phase"], status["nodeID"]) == ("Provisioning", "kwok://default-1")
    assert [event["name"] for event in status["events"]] == ["nodeRequested"]
    assert {each["type"]: each["status"] for each in status["conditions"]}["Reconciling"] == "True"


def test_a_request_that_the_provider_cannot_meet_says_why() -> None:
    status = status_after(answered(Unmet(reason="sold out", scope=UnmetScope.LOCATION)))
    assert (status["phase"], status["unmetScope"]) == ("Unmet", "Location")
    (event,) = status["events"]
    assert (event["name"], event["reason"]) == ("nodeRequestFailed", "sold out")


@pytest.mark.parametrize(
    ("answer", "again_at"),
    [
        (Throttled(seconds=30), 40.0),
        (Failed(failure=FailureClass.TRANSIENT, reason="gateway"), 12.0),
    ],
)
def test_a_passing_failure_is_asked_again_after_its_time(
    answer: CreateAnswer, again_at: float
) -> None:
    seen = answered(answer, after=10)
    assert not steps(seen, seconds=again_at - 0.1)
    assert provisioning.decide(seen, at(again_at - 0.1)).wake_at == pytest.approx(again_at)
    (step,) = steps(seen, seconds=again_at)
    assert isinstance(step, CreateMachine)


def joined(*, ready: bool, taints: list[Any]) -> World:
    node = build.node("default-1", taints=taints)
    conditions = READY if ready else []
    status = msgspec.convert({"conditions": conditions}, type(node.status))
    node = msgspec.structs.replace(node, status=status)
    coming = request(status={"phase": "Provisioning"})
    return world(coming, pool(), node_class(), node)


def test_a_node_that_is_not_ready_keeps_its_start_up_taint() -> None:
    assert not steps(joined(ready=False, taints=[UNREGISTERED]))


def test_the_start_up_taint_of_a_ready_node_goes_and_the_others_stay() -> None:
    other = {"key": "only", "effect": "NoSchedule", "value": "gpu"}
    (step,) = steps(joined(ready=True, taints=[UNREGISTERED, other]))
    assert isinstance(step, SetNode)
    assert step.taints is not None
    assert [taint.key for taint in step.taints] == ["only"]


def test_a_node_that_serves_makes_its_request_ready() -> None:
    status = status_after(joined(ready=True, taints=[]))
    assert (status["phase"], status["nodeName"]) == ("Ready", "default-1")
    assert [event["name"] for event in status["events"]] == ["nodeProvisioned", "nodeLabelled"]


def finished(phase: str, *, held: bool) -> NodeRequest:
    made = request(status={"phase": phase, "lastTransitionTime": START})
    if held:
        return made
    metadata = made.metadata.model_copy(update={"finalizers": ()})
    return made.model_copy(update={"metadata": metadata})


@pytest.mark.parametrize("phase", ["Ready", "Unmet"])
def test_nothing_holds_a_request_that_has_done_its_work(phase: str) -> None:
    (step,) = steps(world(finished(phase, held=True), pool(), node_class()))
    assert isinstance(step, SetFinalizers)
    assert step.finalizers == ()


@pytest.mark.parametrize(("phase", "ttl"), [("Ready", 600.0), ("Unmet", 300.0)])
def test_each_phase_has_its_own_time_to_live(phase: str, ttl: float) -> None:
    seen = world(finished(phase, held=False), pool(), node_class())
    assert not steps(seen, seconds=ttl - 1)
    assert provisioning.decide(seen, at(ttl - 1)).wake_at == pytest.approx(ttl)
    assert not steps(seen, seconds=ttl), "its time is over when it is exceeded"
    (step,) = steps(seen, seconds=ttl + 0.01)
    assert isinstance(step, Delete)
