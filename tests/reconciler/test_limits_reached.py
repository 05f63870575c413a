"""A pool says which limit keeps pods from a machine, and stops saying so when none does."""

from __future__ import annotations

import sys
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from typing_extensions import override

from reconciler.core.caps import Caps
from reconciler.planning.ledger import PlanningLedger
from reconciler.pools import limits_reached
from tests.planning.driver import Planner
from tests.reconciler.build import at, node_class, pool, said_by, waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.nodepool import NodePool
    from reconciler.core.world import World

SMALL = [{"name": "small", "max": 9}]
ONE = {"cpu": "1500m"}
TOLD = {
    "type": limits_reached.CONDITION,
    "status": "True",
    "reason": "Nodes",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


class Capped(Planner):
    """Planning under caps of the whole process."""

    caps = Caps()

    @override
    def _world(self) -> World:
        return msgspec.structs.replace(super()._world(), caps=self.caps)

    def seen(self) -> World:
        """The world after all that was planned."""
        return self._world()


def planned(limited: NodePool, caps: Caps | None = None, *, pods: int = 3) -> Capped:
    """So many pods, each of which fills a small machine."""
    waits = (waiting(f"web-{number}", requests=ONE) for number in range(pods))
    made = Capped(limited, node_class(), *waits)
    made.caps = caps or Caps()
    made.soon()
    return made


def said(world: World) -> tuple[str, str, str] | None:
    """Status, reason and message of the condition that is written, if one is."""
    return said_by(limits_reached, world, at(200))


@pytest.mark.parametrize(
    ("spec", "caps", "reason", "words"),
    [
        ({"serverTypes": [{"name": "small", "max": 1}]}, None, "TypeMaximum", "max of small"),
        ({"limits": {"nodes": 1}}, None, "Nodes", 'limits.nodes of pool "default"'),
        ({"limits": {"nodesPerHour": 1}}, None, "NodesPerHour", "limits.nodesPerHour"),
        ({"limits": {"cpu": "2"}}, None, "Cpu", "limits.cpu"),
        ({"limits": {"memory": "4Gi"}}, None, "Memory", "limits.memory"),
        ({"limits": {"hourlyCost": "1"}}, None, "HourlyCost", "limits.hourlyCost"),
        ({}, Caps(nodes=1), "TotalNodes", "--max-nodes"),
        ({}, Caps(nodes_per_hour=1), "TotalNodesPerHour", "--max-nodes-per-hour"),
        ({}, Caps(hourly_cost=Decimal(1)), "TotalHourlyCost", "--max-hourly-cost"),
    ],
)
def test_the_limit_that_binds_is_named_with_what_to_do(
    spec: dict[str, Any], caps: Caps | None, reason: str, words: str
) -> None:
    told = said(planned(pool(**({"serverTypes": SMALL} | spec)), caps).seen())

    assert told is not None
    assert told[:2] == ("True", reason)
    assert words in told[2]
    assert "raise it" in told[2]


def test_a_limit_that_nobody_waits_for_is_no_news() -> None:
    assert said(planned(pool(serverTypes=SMALL, limits={"nodes": 3})).seen()) is None


def telling() -> World:
    """Nobody waits any more, and the pool says still that they do."""
    limited = pool(serverTypes=SMALL, limits={"nodes": 3})
    status = type(limited.status).model_validate({"conditions": [TOLD]})
    return planned(limited.model_copy(update={"status": status})).seen()


def test_the_condition_ends_when_nobody_waits_for_the_limit() -> None:
    told = said(telling())

    assert told is not None
    assert told[:2] == ("False", "RoomLeft")


def test_before_the_first_plan_of_a_process_nothing_is_taken_back() -> None:
    told = telling()
    begun = told.remembering(replace(told.ledger, planning=PlanningLedger()))
    waits = msgspec.structs.replace(begun, pending={"uid": waiting("web-9")})

    assert said(waits) is None
    assert said(msgspec.structs.replace(begun, pending={})) is not None


def calls(work: Callable[[], object]) -> int:
    """How many functions are called by this."""
    counted = 0

    def count(_frame: object, event: str, _about: object) -> None:
        nonlocal counted
        counted += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize(
    ("spec", "caps"),
    [({"limits": {"nodes": 1}}, Caps()), ({}, Caps(nodes=1))],
    ids=["of a pool", "in total"],
)
def test_it_costs_the_same_in_each_pass_however_many_pods_wait(
    spec: dict[str, Any], caps: Caps
) -> None:
    limited = pool(serverTypes=[{"name": "small", "max": 500}], **spec)
    few, many = (planned(limited, caps, pods=number).seen() for number in (5, 200))
    assert said(few) is not None
    assert calls(lambda: said(many)) == calls(lambda: said(few))


def test_what_binds_is_not_worked_out_again_while_no_try_has_changed() -> None:
    planner = planned(pool(serverTypes=SMALL, limits={"nodes": 1}))
    planner.until(planner.now + 20_000)
    known = planner.memory
    planner.until(planner.now + 100)
    assert known.binding
    assert planner.memory.tries is known.tries
    assert planner.memory.binding is known.binding


def test_the_pass_that_finds_that_a_limit_begins_or_ceases_to_bind_remembers_it() -> None:
    planner = planned(pool(serverTypes=SMALL, limits={"nodes": 1}))
    assert said(planner.seen()) is not None
    planner.remove(*(each for key, each in planner.objects.items() if key[0] == "Pod"))
    planner.until(planner.now + 0.01)
    assert planner.memory.binding == {}
