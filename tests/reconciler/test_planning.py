"""Demand becomes requests: once, for the cheapest machine that fits, within every maximum."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from reconciler import planning
from reconciler.core.actions import CreateNodeRequest, machine
from reconciler.facts.requested import UNCONFIRMED, Bought
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from tests.reconciler.build import (
    RELEASED,
    START,
    at,
    node_class,
    pool,
    request,
    waiting,
    world,
)
from tests.reconciler.solved import planned
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from reconciler.core.world import World


def bought(seen: World, seconds: float = 100.0) -> list[NodeRequest]:
    """What is bought once the wave is complete and the solver has answered."""
    decision = planned(seen, seconds)
    return [
        step.request
        for sequence in decision.sequences
        for step in sequence.steps
        if isinstance(step, CreateNodeRequest)
    ]


def offers_bought(*objects: Any) -> list[tuple[str, str]]:
    return [
        (made.spec.server_type.canonical, made.spec.location)
        for made in bought(world(*objects, node_class()))
    ]


def test_a_pod_that_fits_nowhere_gets_the_cheapest_machine_that_fits_it() -> None:
    assert offers_bought(waiting(requests={"cpu": "1"}), pool()) == [("small", "here")]
    assert offers_bought(waiting(requests={"cpu": "5"}), pool()) == [("large", "here")]


def test_a_pod_that_no_machine_fits_buys_nothing() -> None:
    assert offers_bought(waiting(requests={"cpu": "9"}), pool()) == []


def test_a_pod_that_the_scheduler_has_not_given_up_on_is_no_demand() -> None:
    assert offers_bought(build.pod(requests={"cpu": "1"}), pool()) == []


@pytest.mark.parametrize(
    ("selector", "pools", "chosen"),
    [
        ({}, ["default", "gpu"], "default"),
        ({"growth.dev/pool": "gpu"}, ["default", "gpu"], "gpu"),
        ({"growth.dev/pool": "missing"}, ["default", "gpu"], None),
        ({}, ["gpu"], None),
    ],
)
def test_a_pod_goes_to_the_pool_that_it_names_else_to_the_default_one(
    selector: dict[str, str], pools: list[str], chosen: str | None
) -> None:
    pod = waiting(requests={"cpu": "1"}, nodeSelector=selector)
    made = bought(world(pod, node_class(), *(pool(name) for name in pools)))
    assert [each.spec.pool for each in made] == ([chosen] if chosen else [])


def test_only_types_and_places_of_the_pool_are_bought() -> None:
    picky = pool(serverTypes=[{"name": "SMALL", "max": 9}], locations=[{"region": "there"}])
    assert offers_bought(waiting(requests={"cpu": "1"}), picky) == [("small", "there")]


def test_a_maximum_counts_what_is_on_its_way() -> None:
    tight = pool(serverTypes=[{"name": "small", "max": 2}])
    pods = [waiting(f"web-{number}", requests={"cpu": "2"}) for number in range(3)]
    other = request(pods=())
    assert offers_bought(*pods, tight, other) == [("small", "here")]


def test_a_request_is_owned_by_its_pool_and_held_until_its_machine_is_dealt_with() -> None:
    (made,) = bought(world(waiting(requests={"cpu": "1"}), pool(), node_class()))
    (owner,) = made.metadata.owner_references
    assert (owner.kind, owner.name, owner.uid) == ("NodePool", "default", "uid-default")
    assert owner.controller
    assert not owner.block_owner_deletion
    assert made.metadata.finalizers == ("growth.dev/provider-cleanup",)
    assert made.name.startswith("default-")


def phases() -> list[Any]:
    ready = {"phase": "Ready", "readyAt": START + timedelta(seconds=90)}
    return [{"phase": "Pending"}, {"phase": "Provisioning"}, ready]


@pytest.mark.parametrize("status", phases())
def test_a_pod_whose_machine_is_coming_or_has_just_come_buys_nothing(status: Any) -> None:
    pod = waiting(requests={"cpu": "1"})
    assert not bought(world(pod, pool(), node_class(), request(pods=(pod,), status=status)))


def test_a_pod_that_its_new_node_has_not_taken_is_demand_again_after_a_while() -> None:
    pod = waiting(requests={"cpu": "1"})
    served = request(pods=(pod,), status={"phase": "Ready", "readyAt": START})
    seen = world(pod, pool(), node_class(), served)
    assert not bought(seen, seconds=14.8)
    assert planning.decide(seen, at(10)).wake_at == pytest.approx(15)
    assert len(bought(seen, seconds=15)) == 1


def test_the_same_demand_seen_twice_buys_once() -> None:
    pod = waiting(requests={"cpu": "1"})
    first = world(pod, pool(), node_class())
    decision = planned(first)
    assert isinstance(decision.section, PlanningLedger)
    (sequence,) = decision.sequences
    ledger = Ledger(brakes=RELEASED, planning=decision.section)
    busy = frozenset({sequence.subject})
    again = world(pod, pool(), node_class(), ledger=ledger, busy=busy, seed=2)
    assert not bought(again)


def test_a_create_that_failed_is_tried_again_under_its_name() -> None:
    pod = waiting(requests={"cpu": "1"})
    lost = request("default-lost", pods=(pod,))
    ledger = Ledger(brakes=RELEASED, planning=PlanningLedger(unconfirmed={lost.name: lost}))
    assert machine(lost.name) not in world().busy
    (made,) = bought(world(pod, pool(), node_class(), ledger=ledger))
    assert made.name == lost.name


def test_a_create_that_failed_is_dropped_when_nobody_wants_it_any_more() -> None:
    lost = request("default-lost", pods=(waiting(requests={"cpu": "1"}),))
    ledger = Ledger(brakes=RELEASED, planning=PlanningLedger(unconfirmed={lost.name: lost}))
    decision = planning.decide(world(pool(), node_class(), ledger=ledger), at(100))
    assert decision.sequences == ()
    assert isinstance(decision.section, PlanningLedger)
    assert not decision.section.unconfirmed


def test_a_create_that_the_cache_has_not_shown_yet_counts_though_nobody_awaits_it() -> None:
    made = request("default-made", pods=(waiting(requests={"cpu": "1"}),))
    known = PlanningLedger(
        unconfirmed={made.name: made}, bought={made.name: Bought(pool="default", at=100.0)}
    )
    ledger = Ledger(brakes=RELEASED, planning=known)
    given = world(pool(), node_class(), ledger=ledger, busy=frozenset({machine(made.name)}))
    section = planning.decide(given, at(100 + 10 * UNCONFIRMED)).section
    assert isinstance(section, PlanningLedger)
    assert made.name in section.unconfirmed


def test_the_same_world_gives_the_same_requests() -> None:
    pods = [waiting(f"web-{number}", requests={"cpu": "1"}) for number in range(5)]
    seen = world(*pods, pool(), node_class())
    backwards = world(*reversed(pods), pool(), node_class())
    assert bought(seen) == bought(backwards)


def test_a_pod_with_a_taint_of_the_pool_in_its_way_buys_nothing() -> None:
    tainted: NodePool = pool(taints=[{"key": "only", "value": "gpu", "effect": "NoSchedule"}])
    assert offers_bought(waiting(requests={"cpu": "1"}), tainted) == []
    tolerant = waiting(requests={"cpu": "1"}, tolerations=[{"key": "only", "operator": "Exists"}])
    assert offers_bought(tolerant, tainted) == [("small", "here")]


def node_of(name: str, server_type: str = "small") -> Any:
    labels = {"growth.dev/pool": "default", "growth.dev/instance-type": server_type}
    return build.node(name, labels=labels)


def test_a_maximum_counts_a_node_whose_request_is_gone() -> None:
    tight = pool(serverTypes=[{"name": "small", "max": 2}])
    pods = [waiting(f"web-{number}", requests={"cpu": "2"}) for number in range(3)]
    assert offers_bought(*pods, tight, node_of("default-old")) == [("small", "here")]


def test_a_node_and_its_request_count_once() -> None:
    tight = pool(serverTypes=[{"name": "small", "max": 2}])
    ready = request("default-1", status={"phase": "Ready", "readyAt": START})
    bought_ = offers_bought(waiting(requests={"cpu": "2"}), tight, ready, node_of("default-1"))
    assert bought_ == [("small", "here")]


@pytest.mark.parametrize(
    ("scope", "next_best"),
    [(None, "there"), ("Offer", "there"), ("Location", "there"), ("Project", None)],
)
def test_what_the_provider_has_none_of_is_not_asked_for_again(
    scope: str | None, next_best: str | None
) -> None:
    unmet = request(status={"phase": "Unmet", "unmetScope": scope})
    expected = [("small", next_best)] if next_best else []
    assert offers_bought(waiting(requests={"cpu": "1"}), pool(), unmet) == expected


def test_a_refused_location_is_refused_for_all_types() -> None:
    unmet = request(status={"phase": "Unmet", "unmetScope": "Location"})
    assert offers_bought(waiting(requests={"cpu": "5"}), pool(), unmet) == []


def test_an_unmet_request_takes_no_place_below_the_maximum() -> None:
    tight = pool(serverTypes=[{"name": "small", "max": 1}])
    unmet = request(status={"phase": "Unmet", "unmetScope": "Offer"})
    assert offers_bought(waiting(requests={"cpu": "1"}), tight, unmet) == [("small", "there")]
