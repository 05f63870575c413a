"""Pools say so while the listings of their cloud can't be right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reconciler import pools
from reconciler import removal as removing
from reconciler.brakes.trust import Trust
from reconciler.core.actions import PatchStatus
from reconciler.ledger import Ledger
from reconciler.pools import removal_held
from tests.reconciler.build import RELEASED, at, pool, said_by
from tests.removal.build import CLOUD, machine, node, world

if TYPE_CHECKING:
    from reconciler.core.world import World

DOUBTED = Trust(judged=90.0, suspected_at=90.0, doubt="a listing shows 0 of the 4 machines")


def doubting(*objects: Any) -> World:
    brakes = replace(RELEASED, clouds={CLOUD: DOUBTED})
    return world(*objects, ledger=Ledger(brakes=brakes))


def said(given: World) -> tuple[str, str, str] | None:
    """Status, reason and message of the condition that is written."""
    return said_by(removal_held, after_removal(given), at(100))


def after_removal(given: World) -> World:
    section = removing.decide(given, at(100)).section
    return given.remembering(replace(given.ledger, removal=section))


def telling(reason: str) -> Any:
    condition = {
        "type": "RemovalHeld",
        "status": "True",
        "reason": reason,
        "message": "x",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    paused = condition | {"type": "Paused"}
    told = pool()
    conditions = type(told.status).model_validate({"conditions": [condition, paused]}).conditions
    status = told.status.model_copy(update={"conditions": conditions})
    return told.model_copy(update={"status": status})


def test_a_doubted_listing_is_told_on_the_pool_with_its_figures() -> None:
    found = said(doubting())
    assert found is not None
    assert found[:2] == ("True", "ListingDoubted")
    assert "0 of the 4 machines" in found[2]


def test_too_many_orphans_are_told_with_what_may_be_the_cause() -> None:
    machines = tuple(machine(f"default-{number}") for number in range(3))
    found = said(world(shown=machines))
    assert found is not None
    assert found[:2] == ("True", "TooManyOrphans")
    assert "3 machines" in found[2]
    assert "restored from a backup" in found[2]


def test_what_is_told_already_is_not_written_again() -> None:
    assert said(doubting(telling("ListingDoubted"))) is None


def test_it_is_told_when_it_is_over_and_other_conditions_stay() -> None:
    doubted = telling("ListingDoubted")
    kept = {"finalizers": ("growth.dev/provider-cleanup",)}
    held = doubted.model_copy(update={"metadata": doubted.metadata.model_copy(update=kept)})
    given = world(node(), held, shown=(machine(),))
    found = said(given)
    assert found is not None
    assert found[:2] == ("False", "Released")
    (patch,) = (
        step
        for sequence in pools.decide(after_removal(given), at(100)).sequences
        for step in sequence.steps
        if isinstance(step, PatchStatus)
    )
    types = {each["type"] for each in patch.status["conditions"]}
    assert types >= {"RemovalHeld", "Paused", "Ready"}


def test_what_was_told_stands_while_nothing_is_seen() -> None:
    blind = replace(RELEASED, may_remove=False)
    given = world(telling("TooManyOrphans"), shown=(machine(),), ledger=Ledger(brakes=blind))
    assert said(given) is None


def test_a_pool_of_which_nothing_was_ever_held_says_nothing() -> None:
    assert said(world(node(), shown=(machine(),))) is None
