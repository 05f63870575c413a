"""Metrics and events of the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from growth.api.hvpa import Hvpa
from growth.api.hvpa_status import BlockedSize, HvpaStatus, SourceInStatus, SourceName
from growth.errors import DecideAgain, GiveUp
from sizing.core.actions import TakeStep, TellStatus
from sizing.process.events import SizingEvents
from sizing.process.figures import SizingFigures
from sizing.rule.applying import ResizePod, SetReplicas
from sizing.rule.sizing import WorkloadSize
from tests.sizing.server import an_hvpa

if TYPE_CHECKING:
    from growth.kube.events import Event

HVPA = Hvpa.model_validate(an_hvpa())
SIZE = WorkloadSize(replicas=2, requests={}, limits={})


def test_metrics_count_what_holds_hvpas_up_and_which_sources_are_doubted() -> None:
    registry = CollectorRegistry()
    figures = SizingFigures(registry)
    doubted = SourceInStatus(name=SourceName.VPA, trusted=False, reason="no samples")
    waiting = HvpaStatus(blocked=BlockedSize(reason="MinChange"), sources=(doubted,))
    figures.leads(is_leader=True)
    figures.show([HvpaStatus(), waiting, waiting], use_problem="")

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, labels)

    assert value("growth_sizing_leader") == 1
    assert value("growth_sizing_hvpas", reason="") == 1
    assert value("growth_sizing_hvpas", reason="MinChange") == 2
    assert value("growth_sizing_sources_doubted", source="VPA") == 2
    figures.leads(is_leader=False)
    assert value("growth_sizing_hvpas", reason="MinChange") is None


@pytest.mark.parametrize(
    ("step", "reason"), [(SetReplicas(2), "ReplicasChanged"), (ResizePod("a"), "PodsResized")]
)
def test_a_step_is_an_event_on_its_hvpa(step: SetReplicas | ResizePod, reason: str) -> None:
    told: list[Event] = []
    SizingEvents(told.append).done(TakeStep(HVPA, step, SIZE))
    assert [(each.reason, each.regarding.name) for each in told] == [(reason, "api")]


def test_a_refusal_is_an_event_and_what_is_tried_again_at_once_is_none() -> None:
    told: list[Event] = []
    events = SizingEvents(told.append)
    step = TakeStep(HVPA, SetReplicas(2), SIZE)
    events.failed(step, DecideAgain("it has changed"))
    events.failed(TellStatus(HVPA, HvpaStatus()), GiveUp("refused"))
    assert told == []
    events.failed(step, GiveUp("kubectl owns it"))
    assert [each.note for each in told] == ["kubectl owns it"]
