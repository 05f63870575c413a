"""Which nodes of a surplus are drained."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from growth.keeping.size import PoolSize
from reconciler import removal as removing
from reconciler.brakes.pauses import Pause, PauseCause
from reconciler.core.actions import OpenRemoval
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, Nomination
from reconciler.scaling.ledger import ScalingLedger
from tests.reconciler.build import START, at, request
from tests.removal.build import NAME, machine, node, steps, world
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

POD = build.pod("web-0", on=NAME)
READY = request(status={"phase": "Ready", "readyAt": START})


def surplus(*objects: object) -> World:
    """A node with a pod that its pool's policy gives back."""
    given = world(*objects, POD, shown=(machine(),))
    over = PoolSize(surplus=frozenset({NAME}), drains=True, why="one node is enough")
    scaling = ScalingLedger(sizes={"default": over})
    return given.remembering(replace(given.ledger, scaling=scaling))


def promised(given: World) -> World:
    late: Pod = build.pod("late-0")
    place = Nomination(machine=NAME, shape=late.shape, is_bought_for=False)
    planning = PlanningLedger(nominated=Nominated(places={late.metadata.uid: place}))
    return given.remembering(replace(given.ledger, planning=planning))


def paused(given: World) -> World:
    pauses = {"default": Pause(cause=PauseCause.POOL, message="")}
    brakes = replace(given.ledger.brakes, pauses=pauses)
    return given.remembering(replace(given.ledger, brakes=brakes))


def is_drained(given: World, seconds: float = 100) -> bool:
    return any(isinstance(step, OpenRemoval) for step in steps(given, seconds))


def test_a_surplus_that_only_its_pods_keep_is_drained() -> None:
    assert is_drained(surplus(node()))


@pytest.mark.parametrize(
    "given",
    [
        surplus(node(unschedulable=True)),
        surplus(node(annotations={"growth.dev/do-not-disrupt": "true"})),
        paused(surplus(node())),
        promised(surplus(node())),
    ],
    ids=["cordoned", "held", "paused", "promised"],
)
def test_a_surplus_that_is_kept_for_another_reason_stays(given: World) -> None:
    assert not is_drained(given)


def test_a_new_node_is_drained_when_its_pods_had_their_time() -> None:
    given = surplus(node(), READY)
    assert not is_drained(given, 10)
    assert removing.decide(given, at(10)).wake_at == pytest.approx(15)
    assert is_drained(given, 15.1)
