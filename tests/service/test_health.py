"""Alive and ready: who says so, and when it ends."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from growth.service.event_loop import INTERVAL, SILENCE, watch_event_loop
from growth.service.health import HealthVerdict, ProcessHealth, all_good
from tests.service.build import a_service

if TYPE_CHECKING:
    from io import StringIO


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> ProcessHealth:
    return ProcessHealth(clock=clock)


def test_a_process_without_checks_is_ready(health: ProcessHealth) -> None:
    assert health.readiness() == (HealthVerdict("process", None),)


def test_a_process_is_ready_when_every_check_is_content(health: ProcessHealth) -> None:
    missing: dict[str, str | None] = {"flour": "no sack", "oven": None}
    health.require("flour", lambda: missing["flour"])
    health.require("oven", lambda: missing["oven"])

    assert not all_good(health.readiness())
    assert health.readiness()[1:] == (
        HealthVerdict("flour", "no sack"),
        HealthVerdict("oven", None),
    )

    missing["flour"] = None
    assert all_good(health.readiness())


def test_a_process_that_ends_is_not_ready_whatever_its_checks_say(health: ProcessHealth) -> None:
    health.require("oven", lambda: None)

    health.end()

    assert health.readiness() == (
        HealthVerdict("process", "it is shutting down"),
        HealthVerdict("oven", None),
    )
    assert all_good(health.liveness())


def test_a_pulse_is_due_within_its_limit(health: ProcessHealth, clock: Clock) -> None:
    pulse = health.pulse("oven", limit=10)

    clock.now += 10
    assert all_good(health.liveness())
    clock.now += 0.5
    assert health.liveness() == (HealthVerdict("oven", "no heartbeat for 10.5 s"),)
    pulse.beat()
    assert all_good(health.liveness())


def test_two_parts_cannot_speak_under_one_name(health: ProcessHealth) -> None:
    health.require("oven", lambda: None)
    health.pulse("oven", limit=1)

    with pytest.raises(ValueError, match="'oven'"):
        health.require("oven", lambda: None)
    with pytest.raises(ValueError, match="'oven'"):
        health.pulse("oven", limit=1)


@pytest.mark.looptime
async def test_an_event_loop_that_turns_is_alive_and_on_time() -> None:
    service = a_service(clock=asyncio.get_running_loop().time)
    watching = asyncio.create_task(watch_event_loop(service))

    await asyncio.sleep(SILENCE * 3)

    assert all_good(service.health.liveness())
    turns = service.registry.get_sample_value("growth_event_loop_lag_seconds_count")
    assert turns == pytest.approx(SILENCE * 3 / INTERVAL, abs=1)
    assert service.registry.get_sample_value("growth_event_loop_lag_seconds_sum") == pytest.approx(
        0
    )
    watching.cancel()


@pytest.mark.looptime
async def test_a_process_whose_event_loop_is_not_watched_any_more_is_not_alive() -> None:
    service = a_service(clock=asyncio.get_running_loop().time)
    watching = asyncio.create_task(watch_event_loop(service))
    await asyncio.sleep(1)

    watching.cancel()
    await asyncio.sleep(SILENCE * 2)

    assert [verdict.name for verdict in service.health.liveness() if not verdict.good] == [
        "event loop"
    ]


async def test_a_blocked_event_loop_is_measured_and_logged(
    stream: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("growth.service.event_loop.INTERVAL", 0.01)
    monkeypatch.setattr("growth.service.event_loop.STALL", 0.05)
    service = a_service(stream=stream)
    watching = asyncio.create_task(watch_event_loop(service))
    await asyncio.sleep(0)

    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        pass
    await asyncio.sleep(0.02)

    assert "the event loop was blocked" in stream.getvalue()
    lag = service.registry.get_sample_value("growth_event_loop_lag_seconds_sum")
    assert lag is not None
    assert lag >= 0.05
    watching.cancel()
