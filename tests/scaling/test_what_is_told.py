"""What people are told of a scaling policy: events, metrics, and the commands' words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import prometheus_client

from growth.api.scaling_status import ScalingHold, ScalingStep
from growth.cli.explain.scaling import scaling_facts, scaling_words
from growth.keeping.size import PoolSize, scaling_status
from reconciler.figures.scaling import ScalingFigures, scaling_families
from reconciler.pools.scaling_events import scaling_events
from reconciler.scaling.ledger import ScalingLedger
from tests.figures.reading import told
from tests.reconciler.build import START, at, pool, world

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.core.world import World

LOCK = ScalingHold(reason="Lock", message="waits for machines", until=at(90).wall)
LIMITED = ScalingHold(reason="Limited", message="the pool may not have more than 3 machines")
SICK = ScalingHold(reason="Unhealthy", message="too many of the newest nodes are unhealthy")


def size(**fields: Any) -> PoolSize:
    return PoolSize(reason="AboveScaleUpThreshold", why="85 % of CPU is requested", **fields)


UP = size(step=ScalingStep.UP, change=2, holds=(LOCK,), scaled_up_at=START, decided_at=1.0)


def having(found: PoolSize, of: NodePool | None = None) -> NodePool:
    before = of or pool()
    status = scaling_status(
        found, policy="Utilisation", before=before.status.scaling, now=at(1).wall
    )
    return before.model_copy(
        update={"status": before.status.model_copy(update={"scaling": status})}
    )


def events(before: NodePool, after: NodePool) -> list[str]:
    return [step.event.reason for step in scaling_events(before, after.status)]


def test_each_deed_of_a_policy_is_one_event() -> None:
    first = having(UP)
    assert events(pool(), first) == ["ScalingUp"]
    assert events(first, having(UP, first)) == []
    down = size(step=ScalingStep.DOWN, change=-1, scaled_down_at=START)
    assert events(first, having(down, first)) == ["ScalingDown"]


def test_what_a_policy_can_not_do_is_a_warning_once() -> None:
    limited = having(size(holds=(LOCK, LIMITED)))
    assert events(pool(), limited) == ["ScaleUpFailed"]
    sick = having(size(holds=(LIMITED, SICK)), limited)
    assert events(limited, sick) == ["ScaleDownBlocked"]


def test_many_nodes_that_stay_for_the_same_reason_are_one_event() -> None:
    full = [
        ScalingHold(reason="Capacity", node=f"default-{number}", message="its pods fit nowhere")
        for number in range(40)
    ]
    pdb = ScalingHold(reason="Pdb", node="default-9", message="shop/web allows no disruption")
    after = having(size(holds=(*full, pdb))).status
    notes = [step.event.note for step in scaling_events(pool(), after)]
    assert notes == [
        "default-0: its pods fit nowhere (and 39 more: Capacity)",
        "default-9: shop/web allows no disruption",
    ]


def test_only_a_new_decision_changes_when_the_decision_was_made() -> None:
    first = having(size(seen=(("cpuPercent", 50),)))
    later = scaling_status(
        size(seen=(("cpuPercent", 51),)),
        policy="Utilisation",
        before=first.status.scaling,
        now=at(99).wall,
    )
    assert later is not None
    assert first.status.scaling is not None
    assert later.seen[0].value == "51"
    assert later.changed_at == first.status.scaling.changed_at


def answered(found: PoolSize) -> World:
    given = world(pool())
    scaling = ScalingLedger(sizes={"default": found})
    return given.remembering(replace(given.ledger, scaling=scaling))


def test_each_decision_counts_once() -> None:
    registry = prometheus_client.CollectorRegistry()
    figures = ScalingFigures(registry)
    for _ in range(3):
        figures.look(answered(UP))
    counted = told(registry, "growth_scaling_decisions_total")
    assert counted == {("up", "AboveScaleUpThreshold"): 1.0}
    assert told(registry, "growth_scale_up_total") == {("default",): 1.0}
    assert told(registry, "growth_scale_down_blocked_total") == {("Lock",): 1.0}


def test_the_numbers_and_the_lock_of_a_pool_are_shown() -> None:
    numbers = (
        ("growth_utilisation_percent", ("cpu",), 85.0),
        ("growth_scale_delta", (), 2.0),
    )
    shown = {
        (sample.name, *sample.labels.values()): sample.value
        for family in scaling_families(answered(size(figures=numbers, holds=(LOCK,))))
        for sample in family.samples
    }
    assert shown == {
        ("growth_utilisation_percent", "default", "cpu"): 85.0,
        ("growth_scale_delta", "default"): 2.0,
        ("growth_scale_lock", "default"): 1.0,
        ("growth_scale_holds", "default", "Lock"): 1.0,
    }


def test_commands_say_what_was_seen_decided_and_waited_for() -> None:
    found = having(
        size(
            step=ScalingStep.UP,
            change=2,
            holds=(LOCK,),
            seen=(("cpuPercent", 85), ("memoryPercent", 20), ("untainted", 4)),
        )
    )
    facts = [fact.text for fact in scaling_facts(found, START)]
    assert facts == [
        "Utilisation: 85 % of CPU is requested",
        "seen: cpu 85 %, memory 20 %, untainted 4",
        "Lock: waits for machines, which ends in 1 m at the latest",
    ]
    assert list(scaling_words(found, START)) == [
        "85 % requested",
        "scales up by 2 nodes",
        "held up by Lock (ends in 1 m)",
    ]
    assert list(scaling_words(pool(), START)) == []
