"""Nothing is done before everything is seen, and nothing removed on doubtful sight."""

from __future__ import annotations

import msgspec
import pytest

from growth.kube.cache.health import CacheHealth, Suspicion
from reconciler.brakes import rule as brakes
from reconciler.brakes.rule import BrakesLedger
from reconciler.ledger import Ledger
from tests.reconciler.build import WHOLE, at, world

BLIND = msgspec.structs.replace(WHOLE, blind_since=3.0, problem="no answer")
DOUBTFUL = msgspec.structs.replace(WHOLE, suspicion=Suspicion.SHRANK)

UNREADABLE = msgspec.structs.replace(WHOLE, unreadable=1)


def passes(*moments: tuple[float, dict[str, CacheHealth]]) -> BrakesLedger:
    """What the brakes say after a pass at each moment with these sources."""
    ledger = Ledger()
    for seconds, sources in moments:
        decision = brakes.decide(world(sources=sources, ledger=ledger), at(seconds))
        assert isinstance(decision.section, BrakesLedger)
        ledger = Ledger(brakes=decision.section)
    return ledger.brakes


def test_nothing_is_done_before_every_cache_is_whole() -> None:
    said = passes((0, {"pods": WHOLE, "nodes": CacheHealth()}), (1000, {"nodes": CacheHealth()}))
    assert not said.may_act
    assert "first list of nodes" in said.reason


def test_a_stable_interval_passes_between_the_first_sight_and_the_first_deed() -> None:
    seen = {"pods": WHOLE}
    assert not passes((0, seen), (9.9, seen)).may_act
    assert passes((0, seen), (10, seen)).may_act


def test_the_loop_is_woken_when_the_interval_is_over() -> None:
    decision = brakes.decide(world(ledger=Ledger(), sources={"pods": WHOLE}), at(3))
    assert decision.wake_at == pytest.approx(13)


@pytest.mark.parametrize("trouble", [BLIND, DOUBTFUL, UNREADABLE])
def test_while_a_source_is_in_doubt_pods_are_served_and_nothing_is_removed(
    trouble: CacheHealth,
) -> None:
    said = passes((0, {"pods": WHOLE}), (20, {"pods": trouble}))
    assert said.may_act
    assert not said.may_remove
    assert "pods: " in said.reason


def test_removing_waits_for_a_whole_interval_of_good_sight_after_a_doubt() -> None:
    seen, doubtful = {"pods": WHOLE}, {"pods": BLIND}
    story = (0.0, seen), (20.0, doubtful), (21.0, seen)
    assert not passes(*story, (30.9, seen)).may_remove
    assert passes(*story, (31.0, seen)).may_remove


def test_good_sight_gives_no_reason() -> None:
    assert passes((0, {"pods": WHOLE}), (10, {"pods": WHOLE})).reason == ""
