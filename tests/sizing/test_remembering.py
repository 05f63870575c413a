"""What is written in a status is what is remembered."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from growth.api.hvpa import Hvpa
from growth.api.hvpa_status import HvpaStatus, LastScaling
from growth.scheduling.resources import CPU, MEMORY, parse_one
from sizing.remembering import (
    memory_in,
    written_amount,
    written_changes,
    written_held,
    written_size,
)
from sizing.rule.amounts import Sized
from sizing.rule.evidence import CountChange
from sizing.rule.sizing import WorkloadSize
from tests.sizing.build import NOW
from tests.sizing.server import an_hvpa

if TYPE_CHECKING:
    from collections.abc import Mapping

PARTS = some.sampled_from([Sized(name, which) for name in "ab" for which in (CPU, MEMORY)])
AMOUNTS = some.integers(0, 1 << 45)


@given(some.sampled_from([CPU, MEMORY]), AMOUNTS)
def test_an_amount_is_written_in_full(resource: str, amount: int) -> None:
    assert parse_one(resource, written_amount(resource, amount)) == amount


@given(
    requests=some.dictionaries(PARTS, AMOUNTS),
    limits=some.dictionaries(PARTS, AMOUNTS),
    replicas=some.integers(0, 1000),
)
def test_a_size_is_remembered_as_it_was_decided(
    requests: Mapping[Sized, int], limits: Mapping[Sized, int], replicas: int
) -> None:
    size = WorkloadSize(replicas=replicas, requests=requests, limits=limits)
    last = LastScaling(at=NOW, before=written_size(size), after=written_size(size), reached_at=NOW)
    change = CountChange(before=1, after=2, target=Fraction(500), total=Fraction(900))
    held = {part: Fraction(amount) for part, amount in requests.items()}
    status = HvpaStatus(
        intent=written_size(size),
        last_scaling=last,
        held=written_held(held),
        replicas_changes=written_changes(dict.fromkeys(requests, change)),
    )
    found = memory_in(through_the_server(status))
    assert found.intent == size
    assert found.size == size
    assert (found.last_scaled, found.settled) == (NOW, NOW)
    assert found.held == held
    assert found.changes == dict.fromkeys(requests, change)


def through_the_server(status: HvpaStatus) -> HvpaStatus:
    return Hvpa.model_validate({**an_hvpa(), "status": status.document()}).status


def test_a_new_hvpa_remembers_nothing() -> None:
    found = memory_in(HvpaStatus())
    assert (found.intent, found.last_scaled, found.size) == (None, None, None)
    assert not found.held
    assert not found.changes


@pytest.mark.parametrize("seconds", [0, 86_399])
def test_times_are_remembered_to_the_second(seconds: int) -> None:
    at = NOW + timedelta(seconds=seconds)
    size = written_size(WorkloadSize(replicas=1, requests={}, limits={}))
    status = HvpaStatus(last_scaling=LastScaling(at=at, before=size, after=size))
    document: dict[str, Any] = status.document()
    assert memory_in(HvpaStatus.model_validate(document)).last_scaled == at
