"""What isn't believed is told as metrics, so that alerts can ask a person."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from reconciler.brakes.trust import Trust
from reconciler.figures import Figures
from reconciler.removal.ledger import RemovalLedger
from tests.figures.reading import told
from tests.reconciler.build import at, pool
from tests.removal.build import CLOUD, machine, world

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.core.world import World

DOUBTED = Trust(judged=90.0, suspected_at=90.0, doubt="a listing shows 0 of the 4 machines")
UNSEEN = Trust(doubt="its machines can't be listed: no answer")
BELIEVED = Trust(judged=90.0, suspected_at=80.0)


def shown(given: World, name: str) -> dict[tuple[str, ...], float]:
    registry = CollectorRegistry(auto_describe=True)
    Figures(registry, pod_of=lambda *_: None, now=lambda: at(100)).look(given, at(100))
    return told(registry, name)


def trusting(trust: Trust) -> World:
    given = world()
    brakes = replace(given.ledger.brakes, clouds={CLOUD: trust})
    return given.remembering(replace(given.ledger, brakes=brakes))


def saying(*conditions: dict[str, Any]) -> NodePool:
    usual = {"reason": "Because", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    silent = pool()
    status = type(silent.status).model_validate({"conditions": [usual | c for c in conditions]})
    return silent.model_copy(update={"status": status})


def test_a_complete_listing_that_is_not_believed_is_told_and_blindness_is_not() -> None:
    values = [
        shown(trusting(trust), "growth_cloud_listing_doubted")[CLOUD]
        for trust in (DOUBTED, UNSEEN, BELIEVED)
    ]
    assert values == [1, 0, 0]


def test_machines_that_nobody_knows_are_counted_by_cloud() -> None:
    names = ("default-1", "default-2", "default-3")
    given = world(shown=tuple(machine(name) for name in names))
    ledger = RemovalLedger(orphans={"default-1": 0.0, "default-2": 0.0, "gone-by-now": 0.0})
    found = shown(given.remembering(replace(given.ledger, removal=ledger)), "growth_cloud_orphans")
    assert found == {CLOUD: 2}


def test_a_pool_that_is_held_back_is_told_with_the_reason() -> None:
    telling = saying(
        {"type": "RemovalHeld", "status": "True", "reason": "TooManyOrphans"},
        {"type": "ManySick", "status": "False", "reason": "Released"},
        {"type": "Ready", "status": "True"},
    )
    found = shown(world(telling), "growth_pool_brake")
    assert found == {("default", "RemovalHeld", "TooManyOrphans"): 1}
