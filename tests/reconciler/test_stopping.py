"""A process that was about to break a rule writes nothing more, and says so wherever it can."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from growth.api.wellknown import WRITING_STOPPED_ANNOTATION
from growth.kube.events import Event
from reconciler.effects.stopping import Stopped, Stopping
from reconciler.invariants.breach import Breach, Invariant

FIRST = Breach(invariant=Invariant.MAXIMUM_KEPT, text="4 nodes in pool web, 3 allowed", pool="web")
SECOND = Breach(invariant=Invariant.CORDON_KEPT, text="node a is cordoned by a person")


def test_a_process_that_works_may_write_and_takes_old_words_off_its_lease() -> None:
    stopping = Stopping(CollectorRegistry(), say=lambda _: None)

    stopping.check()
    assert stopping.annotations() == {WRITING_STOPPED_ANNOTATION: None}


def test_a_breach_is_told_once_by_metric_event_and_lease_and_ends_all_writing() -> None:
    registry, said = CollectorRegistry(), list[Event]()
    stopping = Stopping(registry, say=said.append)

    stopping.stop(FIRST)
    stopping.stop(SECOND)

    with pytest.raises(Stopped, match="MaximumKept"):
        stopping.check()
    assert stopping.annotations() == {
        WRITING_STOPPED_ANNOTATION: "MaximumKept: 4 nodes in pool web, 3 allowed"
    }
    assert registry.get_sample_value("growth_writing_stopped") == 1
    assert {each: breaches(registry, each) for each in Invariant if breaches(registry, each)} == {
        Invariant.MAXIMUM_KEPT: 1
    }
    assert [(each.regarding.name, each.reason) for each in said] == [("web", "WritingStopped")]


def breaches(registry: CollectorRegistry, invariant: Invariant) -> float | None:
    labels = {"invariant": invariant.value}
    return registry.get_sample_value("growth_invariant_breaches_total", labels)


def test_each_rule_is_counted_from_zero_so_that_its_first_breach_is_an_increase() -> None:
    registry = CollectorRegistry()
    Stopping(registry, say=lambda _: None)

    assert {breaches(registry, each) for each in Invariant} == {0}
