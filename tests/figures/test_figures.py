"""What the leader's metrics say of a World, of plans and of effects."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.demand.demanded import Demanded
from growth.demand.entry import DemandEntry, State
from reconciler.buying.offers import Shelf, shelf
from reconciler.core.actions import (
    DeleteMachine,
    PatchStatus,
    Solved,
    Subject,
    SubjectKind,
    Version,
    machine,
)
from reconciler.effects.points import Side, point
from reconciler.figures import Figures
from reconciler.figures.figures import SOON
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, Nomination
from reconciler.planning.tries import LeftOutCause, Try
from reconciler.providers.port import ClassKey, Machine, MachineState
from reconciler.solver import Plan, Renewed
from reconciler.solver.model.plan import PlannedNode, Stop, Unplaced, UnplacedReason
from reconciler.solver.model.plan import UnplacedCause as Lack
from tests.figures.reading import told
from tests.reconciler.build import RELEASED, START, at, node_class, pool, request, waiting, world
from tests.removal.build import node as standing
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action
    from reconciler.core.world import World

NOW = at(100.0)
LATER = (START + timedelta(seconds=200)).isoformat().replace("+00:00", "Z")
EARLIER = (START + timedelta(seconds=50)).isoformat().replace("+00:00", "Z")


class Shown:
    """The figures of one process, and what they tell."""

    def __init__(self, *worlds: World) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self.figures = Figures(self.registry, pod_of=lambda *_: None, now=lambda: NOW)
        for each in worlds:
            self.figures.look(each, NOW)

    def __getitem__(self, name: str) -> dict[tuple[str, ...], float]:
        return told(self.registry, name)


def bought_node(name: str, *, cpu: str = "4", memory: str = "16Gi") -> Node:
    labels = {"growth.dev/pool": "default", "growth.dev/instance-type": "small"}
    return build.node(name, labels=labels, cpu=cpu, memory=memory)


def running(name: str, on: str, **fields: Any) -> Any:
    return build.pod(name, on=on, requests={"cpu": "500m", "memory": "1Gi"}, **fields)


def test_a_process_that_does_not_lead_tells_nothing_of_the_world() -> None:
    shown = Shown()
    assert shown["growth_pending_pods"] == {}

    shown.figures.look(world(pool()), NOW)
    assert shown["growth_pending_pods"]
    shown.figures.forget()
    assert shown["growth_pending_pods"] == {}


def entry(uid: str, state: State = State.DEMAND, *, seconds: float = 90.0) -> DemandEntry:
    return DemandEntry(
        uid=uid,
        namespace="shop",
        name=uid,
        resource_version="1",
        state=state,
        reason="Unschedulable",
        since=at(seconds).wall,
    )


def test_pods_are_told_by_how_they_stand_with_planning() -> None:
    names = ("held", "new", "placed", "resting", "tired")
    pods = {name: waiting(name, metadata={"uid": name}) for name in names}
    place = Nomination(machine="m", shape=pods["placed"].shape, is_bought_for=True)
    planning = PlanningLedger(
        nominated=Nominated(places={"placed": place}),
        tries={
            "resting": Try(count=6, counted_at=99.9, cause=LeftOutCause.LIMITED),
            "tired": Try(count=99, counted_at=0.0),
        },
    )
    entries = {name: entry(name) for name in names} | {
        "held": entry("held", State.HELD, seconds=0.0),
        "tired": entry("tired", seconds=40.0),
        "gone": entry("gone", seconds=0.0),
    }
    shown = Shown(
        world(
            *pods.values(),
            demand=Demanded(entries),
            ledger=Ledger(brakes=RELEASED, planning=planning),
        )
    )

    assert shown["growth_pending_pods"] == {
        ("held",): 1.0,
        ("unplanned",): 1.0,
        ("placed",): 1.0,
        ("resting",): 1.0,
        ("backing_off",): 1.0,
    }
    assert shown["growth_pending_oldest_seconds"] == {(): 60.0}
    assert shown["growth_unplaced_pods"] == {
        ("PoolNotFound",): 0.0,
        ("NoPlace",): 1.0,
        ("Limited",): 1.0,
        ("Overtaken",): 0.0,
    }


def with_status(**status: Any) -> Any:
    found = pool(limits={"nodes": 7, "hourlyCost": "9.5"})
    return type(found).model_validate(found.document() | {"status": status})


def test_a_pool_is_told_as_its_status_and_its_limits_say() -> None:
    counts = {"name": "small", "nodes": 3, "ready": 2, "requested": 4}
    unmet = [
        {"serverType": "small", "location": "here", "until": LATER, "failures": 3},
        {"serverType": "large", "location": "here", "until": EARLIER, "failures": 1},
    ]
    blocked = {"reason": "AccessRefused", "message": "no token"}
    shown = Shown(
        world(
            with_status(serverTypes=[counts], hourlyCost="2.5", unmetOffers=unmet, blocked=blocked)
        )
    )

    assert shown["growth_pool_nodes"] == {
        ("default", "small", "joined"): 3.0,
        ("default", "small", "ready"): 2.0,
        ("default", "small", "requested"): 4.0,
    }
    assert shown["growth_pool_node_limit"] == {("default",): 7.0}
    assert shown["growth_pool_cost_per_hour"] == {("default",): 2.5}
    assert shown["growth_pool_cost_limit_per_hour"] == {("default",): 9.5}
    assert shown["growth_pool_blocked"] == {("default",): 1.0}
    assert shown["growth_unmet_offers"] == {("default", "small", "here"): 3.0}


@pytest.mark.parametrize(("age", "told"), [({}, {}), ({"expireAfter": "10m"}, {("default",): 1.0})])
def test_nodes_that_are_too_old_are_told_of_pools_that_have_an_age(age: Any, told: Any) -> None:
    old = standing(made_at=-7200.0)
    assert Shown(world(pool(disruption=age), old))["growth_pool_nodes_expired"] == told


def test_limits_that_are_not_set_are_not_told() -> None:
    shown = Shown(world(pool()))
    assert shown["growth_pool_node_limit"] == {}
    assert shown["growth_pool_cost_limit_per_hour"] == {}


def on_the_shelf(seen: World) -> World:
    planning = PlanningLedger(shelf=shelf(seen, Shelf()))
    return msgspec.structs.replace(seen, ledger=Ledger(brakes=RELEASED, planning=planning))


def test_room_and_its_lowest_price_are_those_of_the_pods_that_need_a_node() -> None:
    of_a_daemon_set = {"ownerReferences": [owner("DaemonSet")]}
    seen = on_the_shelf(
        world(
            pool(),
            node_class(),
            bought_node("default-1", cpu="2", memory="4Gi"),
            bought_node("default-2", cpu="2", memory="4Gi"),
            build.node("a stranger's"),
            running("a", "default-1"),
            running("b", "default-2"),
            running("daemon", "default-2", metadata=of_a_daemon_set),
            running("elsewhere", "a stranger's"),
        )
    )
    shown = Shown(seen)

    assert shown["growth_pool_cpu_cores"] == {
        ("default", "allocatable"): 4.0,
        ("default", "requested"): 1.5,
    }
    assert shown["growth_pool_memory_bytes"][("default", "requested")] == 3 * 2**30
    # Large machines sell 8 CPUs for 3: one CPU costs 0.375; 16Gi for 3: 2Gi cost the same.
    assert shown["growth_pool_cost_bound_per_hour"] == {("default",): pytest.approx(0.375)}


def owner(kind: str) -> dict[str, Any]:
    return {"kind": kind, "name": "it", "uid": "u", "controller": True, "apiVersion": "apps/v1"}


def test_a_node_that_has_gone_no_longer_counts_in_the_bound() -> None:
    fixed = (pool(), node_class(), bought_node("default-1"), running("a", "default-1"))
    both = world(*fixed, bought_node("default-2"), running("b", "default-2"))
    shown = Shown(on_the_shelf(both))
    before = shown["growth_pool_cost_bound_per_hour"]["default",]

    shown.figures.look(on_the_shelf(world(*fixed)), NOW)

    assert shown["growth_pool_cost_bound_per_hour"]["default",] == pytest.approx(before / 2)


def removal(name: str, phase: str) -> NodeRemovalRequest:
    spec = {
        "pool": "default",
        "nodeName": name,
        "nodeID": "1",
        "requestUID": "u",
        "reason": "Idle",
    }
    return NodeRemovalRequest.model_validate(
        {"metadata": {"name": name}, "spec": spec, "status": {"phase": phase}}
    )


def test_requests_and_removals_are_counted_by_phase() -> None:
    since = {"phase": "Provisioning", "lastTransitionTime": EARLIER}
    gone = {"default-9": removal("default-9", "RemovalFailed")}
    shown = Shown(
        world(pool(), request(status=since), request("default-2", status=since), removals=gone)
    )

    assert shown["growth_node_requests"]["default", "Provisioning"] == 2
    assert shown["growth_node_requests"]["default", "Unmet"] == 0
    assert shown["growth_node_request_oldest_seconds"]["Provisioning",] == 50
    assert shown["growth_node_removals"] == {("default", "RemovalFailed", "Idle"): 1.0}


def test_what_is_worked_on_is_counted_by_kind() -> None:
    busy = frozenset({machine("a"), machine("b"), Subject(SubjectKind.LANE, "demand")})
    shown = Shown(world(busy=busy))
    assert shown["growth_busy_subjects"]["machine",] == 2
    assert shown["growth_busy_subjects"]["lane",] == 1
    assert shown["growth_busy_subjects"]["pool",] == 0


PLAN = Plan(
    nodes=(PlannedNode(offer="small", pods={"a": 1}, price=1_010_000),),
    unplaced=(
        Unplaced(
            pod_class="b", count=4, priority=0, reason=UnplacedReason(cause=Lack.COUNT, text="")
        ),
    ),
    cost=1_010_000,
    bound=1_000_000,
    first_fit_cost=2_000_000,
    first_fit_unplaced=4,
    stop=Stop.GAP,
    effort=1,
    seconds=0.03,
)


def test_a_plan_is_counted_once_however_long_it_lies_there() -> None:
    first, second = (world(plans={"demand": Solved(number=n, plan=PLAN)}) for n in (1, 2))
    shown = Shown(first, first, second)

    assert shown["growth_plans_total"] == {("demand", "gap"): 2.0}
    assert shown["growth_plan_seconds_sum"] == {("demand",): pytest.approx(0.06)}
    assert shown["growth_plan_gap_ratio_bucket"]["demand", "0.005"] == 0
    assert shown["growth_plan_gap_ratio_bucket"]["demand", "0.02"] == 2
    assert shown["growth_plan_unplaced_pods_total"] == {("demand",): 8.0}
    assert shown["growth_planned_cost_per_hour_total"] == {("demand",): pytest.approx(2.02)}
    assert shown["growth_planned_bound_per_hour_total"] == {("demand",): pytest.approx(2.0)}
    assert shown["growth_planned_first_fit_per_hour_total"] == {("demand",): pytest.approx(4.0)}


def test_an_answer_about_nodes_that_could_go_is_told_with_its_bound() -> None:
    stays = Renewed(
        goes=(), plan=PLAN, saving=0, disturbance=0, cost=3_000_000, bound=2_500_000, effort=1
    )
    goes = dataclasses.replace(stays, goes=("a", "b"), saving=500_000)
    shown = Shown(
        *(
            world(plans={"replacement": Solved(number=number, plan=answer)})
            for number, answer in enumerate((stays, goes))
        )
    )

    assert shown["growth_renewals_total"] == {("none",): 1.0, ("change",): 1.0}
    assert shown["growth_renewal_saving_per_hour_total"] == {(): 0.5}
    assert shown["growth_renewal_cost_per_hour"] == {(): 3.0}
    assert shown["growth_renewal_bound_per_hour"] == {(): 2.5}
    assert shown["growth_plan_seconds_count"] == {("replacement",): 2.0}
    assert shown["growth_plans_total"] == {}


def test_removals_end_with_the_machine_or_with_a_node_that_stays() -> None:
    node = bought_node("default-2")
    both = {name: removal(name, "Pending") for name in ("default-1", "default-2")}
    shown = Shown(world(node, removals=both), world(node))

    assert shown["growth_node_removals_ended_total"] == {
        ("Idle", "gone"): 1.0,
        ("Idle", "kept"): 1.0,
    }


def test_what_ends_while_another_leads_is_not_counted() -> None:
    shown = Shown(world(removals={"default-1": removal("default-1", "Pending")}))
    shown.figures.forget()
    shown.figures.look(world(), NOW)

    assert shown["growth_node_removals_ended_total"] == {}


VERSION = Version(name="default-1", uid="u", resource_version="1")
MACHINE = Machine(
    machine_id="1", name="default-1", request_uid="u", pool="p", state=MachineState.RUNNING
)


def test_effects_are_counted_by_what_they_do_when_they_begin_and_when_they_succeed() -> None:
    shown = Shown()
    heard: list[Side] = []
    announce = shown.figures.also(lambda each: heard.append(each.side))
    status = PatchStatus(kind="NodeRequest", version=VERSION, status={"phase": "Ready"})
    delete = DeleteMachine(node_class=ClassKey("KwokNodeClass", "default"), machine=MACHINE)

    def announced(action: Action, side: Side) -> None:
        announce(point(action, number=1, subject=machine("default-1"), side=side))

    announced(status, Side.BEFORE)
    announced(status, Side.AFTER)
    announced(delete, Side.BEFORE)

    assert shown["growth_effects_begun_total"] == {("PatchStatus",): 1.0, ("DeleteMachine",): 1.0}
    assert shown["growth_effects_done_total"] == {("PatchStatus",): 1.0}
    assert heard == [Side.BEFORE, Side.AFTER, Side.BEFORE]


@pytest.mark.looptime
async def test_nothing_is_looked_at_before_the_pass_that_it_belongs_to_is_over() -> None:
    shown = Shown()
    first, second = (world(plans={"demand": Solved(number=n, plan=PLAN)}) for n in (1, 2))

    shown.figures.show(first)
    shown.figures.show(second)
    assert shown["growth_plans_total"] == {}
    await asyncio.sleep(SOON)
    assert shown["growth_plans_total"] == {("demand", "gap"): 1.0}

    shown.figures.show(first)
    shown.figures.forget()
    await asyncio.sleep(SOON)
    assert shown["growth_pending_pods"] == {}
