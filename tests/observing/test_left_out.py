"""A pool that observes buys nothing and gives nothing back, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from growth.api.nodepool import PoolMode
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.keeping.answer import keepings
from growth.keeping.wanting import KeepingReason
from reconciler import loop
from reconciler.core.actions import (
    NODES,
    Action,
    CreateMachine,
    CreateNodeRecord,
    CreateNodeRequest,
    Delete,
    DeleteMachine,
    EmitEvent,
    Evict,
    OpenRemoval,
    PatchStatus,
    Sequence,
    SetNode,
    Version,
    machine,
)
from reconciler.core.leaving_out import is_left_out
from reconciler.facts.keeping_scene import scene_of
from reconciler.pools import observing, paused
from reconciler.providers.port import Machine, MachineState
from tests.reconciler.build import (
    at,
    node_class,
    pool,
    record,
    request,
    said_by,
    small_order,
    waiting,
    world,
)
from tests.reconciler.solved import settled
from tests.scheduling import build

if TYPE_CHECKING:
    from reconciler.core.world import World

CPU = {"cpu": "1"}
SERVING = {
    "growth.dev/pool": "default",
    "growth.dev/managed-by": "growth",
    "growth.dev/instance-type": "small",
}
THIS = Version(name="default-1", uid="uid-1", resource_version="7")


def observes(*objects: Any, **changes: Any) -> World:
    """An installation that observes."""
    return world(*objects, mode=PoolMode.OBSERVE, **changes)


def steps(seen: World, seconds: float = 50.0) -> list[Action]:
    outcome = settled(seen, seconds)
    return [step for sequence in outcome.sequences for step in sequence.steps]


def acts(found: list[Action]) -> list[Action]:
    telling = (PatchStatus, EmitEvent)
    return [step for step in found if not isinstance(step, telling)]


def about(step: Action) -> Sequence:
    return Sequence(subject=machine("default-1"), steps=(step,), why="")


REMOVAL = NodeRemovalRequest.model_validate(
    {
        "metadata": {"name": "default-1"},
        "spec": {
            "pool": "default",
            "nodeName": "default-1",
            "nodeID": "1",
            "requestUID": "u",
            "reason": "Idle",
        },
    }
)
ORDER = small_order("default-1", request_uid="u")
MACHINE = Machine(
    machine_id="1", name="default-1", request_uid="u", pool="default", state=MachineState.RUNNING
)
MACHINES: tuple[Action, ...] = (
    CreateNodeRequest(request=request()),
    CreateMachine(order=ORDER),
    OpenRemoval(removal=REMOVAL),
    DeleteMachine(node_class=ORDER.node_class, machine=MACHINE),
    Evict(namespace="default", name="web", uid="u"),
    Delete(kind=NODES, version=THIS),
)
"""What buys, gives back, or moves pods."""
FINISHES: tuple[Action, ...] = (CreateNodeRecord(record=record()), SetNode(node=THIS))
"""What lets a machine serve that is there already."""


@pytest.mark.parametrize("step", [*MACHINES, *FINISHES], ids=lambda step: type(step).__name__)
def test_an_installation_that_observes_leaves_out_whatever_acts(step: Action) -> None:
    assert is_left_out(about(step), observes(pool(), record()))
    assert not is_left_out(about(step), world(pool(), record()))


@pytest.mark.parametrize("step", MACHINES, ids=lambda step: type(step).__name__)
def test_a_pool_that_observes_buys_nothing_and_gives_nothing_back(step: Action) -> None:
    assert is_left_out(about(step), world(pool(mode="Observe"), record()))
    assert not is_left_out(about(step), world(pool(), pool("other", mode="Observe"), record()))


@pytest.mark.parametrize("step", FINISHES, ids=lambda step: type(step).__name__)
def test_a_machine_bought_before_its_pool_observed_is_finished(step: Action) -> None:
    assert not is_left_out(about(step), world(pool(mode="Observe"), record()))


def test_what_tells_people_something_is_done_all_the_same() -> None:
    told = PatchStatus(kind="NodePool", version=THIS, status={})
    assert not is_left_out(about(told), observes(pool()))


def test_a_pod_without_a_node_buys_nothing_where_growth_observes() -> None:
    pod = waiting(requests=CPU)
    assert [each for each in steps(world(pod, pool(), node_class())) if _buys(each)]
    assert not [each for each in steps(observes(pod, pool(), node_class())) if _buys(each)]


def test_a_pool_that_observes_buys_nothing_beside_one_that_acts() -> None:
    pod = waiting(requests=CPU)
    seen = world(pod, pool(mode="Observe"), node_class())
    assert not [each for each in steps(seen) if _buys(each)]


def _buys(step: Action) -> bool:
    return isinstance(step, CreateNodeRequest)


def test_no_event_says_of_a_pod_that_it_has_no_place_while_others_serve_it() -> None:
    pod = waiting(requests={"cpu": "500"})
    impossible = world(pod, pool(), node_class())
    assert [each for each in steps(impossible) if isinstance(each, EmitEvent)]
    assert not [
        each for each in steps(observes(pod, pool(), node_class())) if isinstance(each, EmitEvent)
    ]


def test_an_idle_node_of_a_pool_that_observes_is_kept() -> None:
    node = build.node("default-1", labels=SERVING)
    acting = braked(world(node, pool(), node_class()))
    held = braked(world(node, pool(mode="Observe"), node_class()))
    assert keepings(scene_of(acting), at(50))["default-1"].reason is KeepingReason.IDLE
    assert keepings(scene_of(held), at(50))["default-1"].why == "its pool only observes"


def test_the_pool_says_that_it_observes_and_not_that_it_is_paused() -> None:
    seen = braked(world(pool(mode="Observe")))
    truth, reason, message = said_by(observing, seen, at(50)) or ("", "", "")
    assert (truth, reason) == ("True", "PoolMode")
    assert "growth observe report" in message
    assert said_by(paused, seen, at(50)) is None


def test_a_pool_in_an_installation_that_observes_names_the_installation() -> None:
    _, reason, _ = said_by(observing, braked(observes(pool())), at(50)) or ("", "", "")
    assert reason == "InstallationMode"


def test_a_pool_that_acts_from_its_beginning_has_no_condition_of_it() -> None:
    assert said_by(observing, braked(world(pool())), at(50)) is None


def braked(seen: World) -> World:
    """With the verdict of the brakes."""
    return seen.remembering(loop.decide(seen, at(40)).ledger)
