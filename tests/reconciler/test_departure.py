"""Growth says which pods go first when a workload is scaled down, if it is told to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from growth.api.deletion_cost import DELETION_COST, PodDeletionCost
from growth.api.wellknown import BOUGHT_AT_ANNOTATION
from reconciler import departure
from reconciler.core.actions import SetDeletionCost, pod_subject
from reconciler.departure.cost import HIGHEST, LOWEST, cost_on
from reconciler.departure.rule import A_FEW, AT_ONCE, BETWEEN_LOOKS
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, Nomination
from tests.reconciler.build import RELEASED, at, pool, world
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

NODE = "default-1"
BOUGHT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def bought(name: str = NODE, *, when: datetime = BOUGHT) -> Node:
    labels = {"growth.dev/pool": "default", "growth.dev/instance-type": "small"}
    made = build.node(name, labels=labels)
    annotations = {BOUGHT_AT_ANNOTATION: when.isoformat().replace("+00:00", "Z")}
    metadata = msgspec.structs.replace(made.metadata, annotations=annotations)
    return msgspec.structs.replace(made, metadata=metadata)


def running(name: str, *, kind: str = "ReplicaSet", on: str = NODE, **metadata: Any) -> Pod:
    owner = {"kind": kind, "name": "web", "uid": "w", "apiVersion": "v1", "controller": True}
    return build.pod(name, on=on, metadata={"ownerReferences": [owner], **metadata})


def seen(*objects: Any, **changes: Any) -> World:
    told = {"deletion_cost": PodDeletionCost.BY_NODE, **changes}
    return world(pool(), bought(), *objects, **told)


def costs(found: World, seconds: float = 100.0) -> dict[str, int]:
    """What is written in one look, by the name of the pod."""
    written = {}
    for sequence in departure.decide(found, at(seconds)).sequences:
        for step in sequence.steps:
            assert isinstance(step, SetDeletionCost)
            written[step.name] = step.cost
    return written


def later(found: World, seconds: float) -> World:
    """The same world, remembering what was decided at that time."""
    section = departure.decide(found, at(seconds)).section
    return found.remembering(replace(Ledger(brakes=RELEASED), departure=section))


@given(some.datetimes(datetime(2026, 1, 1), datetime(2090, 1, 1)), some.integers(10, 10**6))  # noqa: DTZ001 - hypothesis adds the zone itself
def test_pods_of_a_node_that_was_bought_later_go_first(when: datetime, minutes: int) -> None:
    earlier = when.replace(tzinfo=UTC)
    old = cost_on(bought("old", when=earlier))
    new = cost_on(bought("new", when=earlier + timedelta(minutes=minutes)))
    assert old is not None
    assert new is not None
    assert LOWEST <= new < old <= HIGHEST


def test_nodes_of_one_plan_are_in_an_order_that_stays() -> None:
    names = [f"default-{number}" for number in range(20)]
    first, again = ([cost_on(bought(name)) for name in names] for _ in range(2))
    assert first == again
    assert len(set(first)) > 15


def test_nothing_is_written_unless_it_is_wanted() -> None:
    assert costs(seen(running("web-1"), deletion_cost=PodDeletionCost.UNTOUCHED)) == {}


def test_each_pod_of_a_replica_set_gets_the_cost_of_its_node() -> None:
    other = bought("default-2", when=BOUGHT + timedelta(hours=1))
    found = costs(seen(other, running("web-1"), running("web-2"), running("late", on="default-2")))
    assert found["web-1"] == found["web-2"] == cost_on(bought())
    assert found["late"] < found["web-1"]


@pytest.mark.parametrize(
    "pod",
    [
        running("agent", kind="DaemonSet"),
        running("db-0", kind="StatefulSet"),
        build.pod("alone", on=NODE),
        running("said", annotations={DELETION_COST: "7"}),
        running("going", deletionTimestamp="2026-03-01T12:00:00Z"),
        running("elsewhere", on="of-a-person"),
        running("nominated", on=""),
    ],
    ids=lambda pod: pod.metadata.name,
)
def test_no_other_pod_is_touched(pod: Pod) -> None:
    assert costs(seen(build.node("of-a-person"), pod)) == {}


def test_pods_of_a_pool_that_only_observes_are_not_touched() -> None:
    assert costs(world(
        pool(mode="Observe"), bought(), running("web-1"), deletion_cost=PodDeletionCost.BY_NODE
    )) == {}  # fmt: skip


def test_many_pods_take_several_looks() -> None:
    many = seen(*(running(f"web-{number}") for number in range(AT_ONCE + 1)))
    assert len(costs(many)) == AT_ONCE
    after = later(many, 100.0)
    assert costs(after, 100.0 + BETWEEN_LOOKS / 2) == {}
    assert departure.decide(after, at(100.5)).wake_at == 100.0 + BETWEEN_LOOKS
    assert len(costs(after, 100.0 + BETWEEN_LOOKS)) == AT_ONCE


def test_while_others_are_being_bound_only_a_few_are_written() -> None:
    many = [running(f"web-{number}") for number in range(AT_ONCE)]
    place = Nomination(machine=NODE, shape=many[0].shape, is_bought_for=True)
    planning = PlanningLedger(nominated=Nominated(places={"waits": place}))
    ledger = Ledger(brakes=RELEASED, planning=planning)
    assert len(costs(seen(*many, ledger=ledger))) == A_FEW


def test_where_every_pod_has_its_cost_nothing_is_looked_at_again() -> None:
    settled = later(seen(running("said", annotations={DELETION_COST: "7"})), 100.0)
    decision = departure.decide(settled, at(200.0))
    assert (decision.sequences, decision.section) == ((), settled.ledger.departure)
    assert decision.wake_at == float("inf")


def test_a_pod_about_which_something_is_done_waits() -> None:
    web = running("web-1")
    assert costs(seen(web, running("web-2"), busy=frozenset({pod_subject(web)}))).keys() == {
        "web-2"
    }
