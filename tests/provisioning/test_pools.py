"""What a pool says of itself, what it learns, and how it goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from growth.api.wellknown import INSTANCE_TYPE_LABEL, MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL
from reconciler import pools
from reconciler.buying.offers import Shelf, shelf
from reconciler.core.actions import machine as machine_subject
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated
from reconciler.planning.tries import Try
from reconciler.pools.leaving import has_left
from tests.provisioning.build import HELD, NAME, Life, machine, made_at, node, settled
from tests.provisioning.test_booting import coming, provisioning
from tests.reconciler.build import START, at, node_class, record, waiting, world
from tests.removal.build import machine as listed
from tests.removal.build import removal
from tests.removal.build import world as listing_world
from tests.scheduling import build

LABELS = {
    POOL_LABEL: "default",
    INSTANCE_TYPE_LABEL: "small",
    MANAGED_BY_LABEL: MANAGED_BY,
}


def ours(name: str = "default-9", /, *, allocatable: Any = None, **fields: Any) -> Any:
    """A node of the pool that serves."""
    found = {"cpu": "2", "memory": "4Gi", "pods": "110"} | (allocatable or {})
    known = {"labels": LABELS, "taints": [], "allocatable": found}
    return node(name, **(known | fields))


def status(life: Life) -> Any:
    return life.get("NodePool", "default").status


def test_a_pool_counts_what_it_has_and_what_is_coming() -> None:
    priced = {"growth.dev/price": "1.5"}
    life = Life(
        settled(),
        made_at(99),
        ours("default-8", annotations=priced),
        ours("default-9", annotations=priced, ready=False),
    )
    life.soon()
    (small, large) = status(life).server_types
    assert (small.name.canonical, small.nodes, small.ready, small.requested) == ("small", 2, 1, 1)
    assert (large.nodes, large.requested) == (0, 0)
    assert (status(life).nodes, status(life).ready, status(life).wanted) == (2, 1, 3)
    assert status(life).hourly_cost == Decimal(4)
    assert {each.type: each.reason for each in status(life).conditions}["Ready"] == "Provisioning"


def test_a_pool_adds_up_costs_of_one_currency_only() -> None:
    """A node that says none was bought in the pool's own."""
    told = ({"growth.dev/currency": currency} for currency in ("USD", "EUR"))
    nodes = (
        ours(f"default-{number}", annotations={"growth.dev/price": "1.5", **each})
        for number, each in enumerate((*told, {}))
    )
    life = Life(settled(), node_class(currency="EUR"), *nodes)
    life.soon()
    assert (status(life).hourly_cost, status(life).currency) == (Decimal(3), "EUR")
    ((other, cost),) = ((each.currency, each.hourly_cost) for each in status(life).other_costs)
    assert (other, cost) == ("USD", Decimal("1.5"))


def test_a_request_and_its_node_are_one_machine() -> None:
    life = coming()
    life.put(ours(NAME, ready=False))
    life.soon()
    assert (status(life).nodes, status(life).wanted) == (1, 1)


def test_conditions_of_others_stay() -> None:
    paused = {
        "type": "Paused",
        "status": "True",
        "lastTransitionTime": START,
        "reason": "PausedByAnnotation",
    }
    life = Life(settled(status={"conditions": [paused]}), made_at(99))
    life.soon()
    types = {each.type for each in status(life).conditions}
    assert types == {"Ready", "Reconciling", "Stalled", "NodeClassReady", "Paused"}


def test_a_status_that_says_nothing_new_is_not_written() -> None:
    life = Life(settled(), made_at(99))
    life.until(110)
    before = life.writes.count("PatchStatus")
    life.until(400)
    assert life.writes.count("PatchStatus") == before


def test_figures_are_written_once_a_second_whatever_happens() -> None:
    life = Life(settled())
    life.until(101)
    before = life.writes.count("PatchStatus")
    for number in range(200):
        life.put(ours(f"default-n{number}"))
        life.until(101 + number / 50)
    assert life.writes.count("PatchStatus") - before <= 6
    life.until(106.5)
    assert status(life).nodes == 200


def told(life: Life) -> Any:
    return [(each.node, each.reason, each.owner, each.until) for each in status(life).kept]


def test_a_pool_says_why_its_nodes_are_there_and_only_counts_those_with_pods() -> None:
    cordoned = ours("default-7", unschedulable=True)
    owner = {"kind": "StatefulSet", "name": "db", "uid": "u", "apiVersion": "apps/v1"}
    controlled = {"ownerReferences": [owner | {"controller": True}]}
    life = Life(
        settled(),
        *(cordoned, ours("default-8"), ours("default-9")),
        build.pod("db-0", on="default-8", metadata=controlled),
        build.pod("lonely", on="default-9"),
    )
    life.soon()
    assert told(life) == [
        ("default-9", "Held", "Pod shop/lonely", None),
        ("default-7", "Cordoned", "person who cordoned it", None),
    ]
    counts = {each.reason: each.nodes for each in status(life).nodes_by_reason}
    assert counts == {"Held": 1, "Occupied": 1, "Cordoned": 1}
    life.drop("Node", "default-9")
    life.drop("Node", "default-8")
    life.drop("Node", "default-7")
    life.until(103)
    assert (status(life).kept, status(life).nodes_by_reason) == ((), ())


def test_a_new_leader_counts_a_large_cluster_over_several_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reconciler.pools.rule.PODS_AT_ONCE", 1)
    names = ("default-7", "default-8", "default-9")
    pods = (build.pod(f"lonely-{name}", on=name) for name in names)
    seen = Life(settled(), *map(ours, names), *pods).world()
    for asked in range(1, 3):
        decision = pools.decide(seen, at(100))
        assert decision.section is not None
        assert len(decision.section.occupants.answers) == asked
        assert decision.wake_at <= 100
        assert "'Held'" not in str(decision.sequences)
        seen = seen.remembering(replace(seen.ledger, pools=decision.section))
    assert "'Held'" in str(pools.decide(seen, at(100)).sequences)


def begun() -> Life:
    """A node that serves for a second."""
    since = (START + timedelta(seconds=99)).isoformat()
    ready = {"phase": "Ready", "readyAt": since, "lastTransitionTime": since}
    return Life(settled(), ours("default-1"), made_at(90, "default-1", status=ready))


def test_a_reason_that_ends_by_itself_is_followed_by_the_next_one_and_no_write_between() -> None:
    life = begun()
    life.until(102)
    end = START + timedelta(seconds=114)
    assert told(life) == [("default-1", "Starting", "NodeRequest default-1", end)]
    before = life.writes.count("PatchStatus")
    life.until(113)
    assert life.writes.count("PatchStatus") == before
    life.until(116)
    assert told(life) == [("default-1", "Idle", "growth", None)]


def test_the_next_look_is_when_a_reason_ends() -> None:
    life = begun()
    life.until(102)
    life.now = 103.5
    assert life.step() == 114.0


def test_of_many_nodes_a_pool_names_a_hundred_and_counts_all() -> None:
    nodes = (ours(f"default-{number:03}", unschedulable=True) for number in range(120))
    life = Life(settled(), *nodes)
    life.soon()
    assert [node for node, *_ in told(life)] == [f"default-{number:03}" for number in range(100)]
    (count,) = status(life).nodes_by_reason
    assert (count.reason, count.nodes) == ("Cordoned", 120)


def test_a_pool_says_who_has_no_place() -> None:
    pod = waiting("import-0", requests={"cpu": "99"})
    life = Life(settled(), pod)
    tries = {pod.metadata.uid: Try(count=3, counted_at=99.0, reason="needs 99 of cpu")}
    life.planning = PlanningLedger(tries=tries)
    life.soon()
    (entry,) = status(life).unplaced
    assert (entry.pod.name, entry.tries, entry.reason) == ("import-0", 3, "needs 99 of cpu")


# What nodes really leave for pods.


def test_a_node_that_is_smaller_than_promised_teaches_the_next_plan() -> None:
    life = Life(settled(), ours(allocatable={"memory": "3700Mi"}))
    life.soon()
    (entry,) = status(life).learnt_allocatable
    assert (entry.server_type.canonical, entry.resources["memory"]) == ("small", str(3700 << 20))
    told = [note for _, reason, note in life.events if reason == "SmallerThanPromised"]
    assert len(told) == 1
    (item, *_) = shelf(world(life.get("NodePool", "default"), node_class()), Shelf()).items
    assert item.room["memory"] == 3700 << 20


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="as promised"),
        pytest.param({"allocatable": {"memory": "5Gi"}}, id="larger"),
        pytest.param({"allocatable": {"memory": "3Gi"}, "ready": False}, id="not ready yet"),
        pytest.param({"allocatable": {"nvidia.com/gpu": "0"}}, id="a device plugin may come later"),
        pytest.param(
            {"allocatable": {"memory": "3Gi"}, "labels": {}}, id="a node of somebody else"
        ),
    ],
)
def test_nothing_is_learnt_from(changes: Any) -> None:
    life = Life(settled(), ours(**changes))
    life.soon()
    assert status(life).learnt_allocatable == ()


def test_what_was_learnt_stays_while_there_is_no_node_and_goes_when_nodes_show_more() -> None:
    life = Life(settled(), ours(allocatable={"memory": "3700Mi"}))
    life.soon()
    life.drop("Node", "default-9")
    life.until(110)
    assert len(status(life).learnt_allocatable) == 1
    life.put(ours("default-10"))
    life.until(112)
    assert status(life).learnt_allocatable == ()


def test_an_offer_that_was_bought_in_vain_is_told_once_and_outlives_a_restart() -> None:
    pod = waiting("web-0")
    life = Life(settled(), pod)
    life.planning = PlanningLedger(
        nominated=Nominated(unserved={(pod.shape, "kwok-small"): 1900.0}),
        shelf=shelf(world(settled(), node_class()), Shelf()),
    )
    life.until(103)
    (entry,) = status(life).unserved
    assert entry.offering == "kwok-small"
    assert [reason for _, reason, _ in life.events] == ["BoughtInVain"]


# How it goes.


def deleted(**fields: Any) -> Any:
    made = settled(**fields)
    stamp = {"deletion_timestamp": START + timedelta(seconds=99)}
    return made.model_copy(update={"metadata": made.metadata.model_copy(update=stamp)})


def test_a_pool_without_anything_goes_at_once() -> None:
    life = Life(deleted())
    life.soon()
    assert life.get("NodePool", "default") is None


def test_what_a_deleted_pool_has_on_its_way_is_cancelled_or_given_back() -> None:
    life = Life(deleted(), made_at(99), provisioning())
    life.put(made_at(99, "default-2"))
    life.machines[NAME] = machine()
    life.until(105)
    assert life.orders == []
    assert life.get("NodeRequest", "default-2") is None
    assert (life.phase, life.get("NodeRemovalRequest").name) == ("", NAME)
    (told,) = (each for each in status(life).conditions if each.type == "Deleting")
    assert told.message == f"Waiting for removal {NAME}."
    life.drop("NodeRemovalRequest")
    life.soon()
    assert life.get("NodePool", "default") is None


def test_a_pool_that_drains_waits_for_its_nodes_and_names_them() -> None:
    life = Life(deleted(), *(ours(f"default-{number}") for number in range(7)))
    life.soon()
    (told,) = (each for each in status(life).conditions if each.type == "Deleting")
    assert told.reason == "Drain"
    assert told.message.endswith("node default-3, node default-4 and 2 more.")


def test_a_pool_that_retains_leaves_its_nodes_without_our_marks() -> None:
    taints = [
        {"key": "growth.dev/scale-down", "value": "1", "effect": "NoSchedule"},
        {"key": "growth.dev/unregistered", "effect": "NoSchedule"},
        {"key": "only", "value": "gpu", "effect": "NoSchedule"},
    ]
    there = ours(taints=taints)
    dated = {**there.metadata.annotations, "growth.dev/scale-down-at": "2026-01-01T00:00:10Z"}
    metadata = msgspec.structs.replace(there.metadata, annotations=dated)
    life = Life(deleted(deletionPolicy="Retain"), msgspec.structs.replace(there, metadata=metadata))
    life.soon()
    assert life.get("NodePool", "default") is None
    left = life.get("Node", "default-9")
    assert [taint.key for taint in left.spec.taints] == ["only"]
    assert "growth.dev/scale-down-at" not in left.metadata.annotations


def test_a_pool_does_not_leave_before_its_nodes_are_free() -> None:
    taints = [{"key": "growth.dev/scale-down", "value": "1", "effect": "NoSchedule"}]
    life = Life(deleted(deletionPolicy="Retain"), ours(taints=taints))
    life.refuses = {"SetNode"}
    life.until(105)
    assert life.get("NodePool", "default") is not None
    life.refuses = set()
    life.soon()
    assert life.get("NodePool", "default") is None


def test_a_pool_does_not_leave_while_one_of_its_nodes_is_being_written() -> None:
    leaving = deleted(deletionPolicy="Retain")
    seen = world(leaving, ours())
    assert has_left(leaving, seen)
    subject = machine_subject("default-9")
    marking = msgspec.structs.replace(seen, busy=frozenset({subject}))
    assert not has_left(leaving, marking)


def test_a_drained_pool_waits_for_a_machine_whose_node_somebody_has_deleted() -> None:
    """Without the pool, nothing would give the orphan back."""
    leaving, known = deleted(), record("default-9")
    seen = listing_world(leaving, known, shown=(listed("default-9"),))
    assert not has_left(leaving, seen)
    assert has_left(leaving, listing_world(leaving, known))
    retained = deleted(deletionPolicy="Retain")
    assert has_left(retained, listing_world(retained, known, shown=(listed("default-9"),)))


def test_a_pool_that_others_hold_too_stays_for_them() -> None:
    made = deleted()
    held = made.metadata.model_copy(update={"finalizers": (*HELD, "others.example/audit")})
    life = Life(made.model_copy(update={"metadata": held}))
    life.until(110)
    assert life.get("NodePool", "default").metadata.finalizers == ("others.example/audit",)
    assert life.writes.count("SetFinalizers") == 1


def test_removals_of_other_pools_hold_nothing_up() -> None:
    life = Life(deleted(), removal("other-1", pool="other"))
    life.soon()
    assert life.get("NodePool", "default") is None
