"""The shell around the aggregation: it never fails its caller and survives restarts."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from growth.errors import Misconfigured, RetryLater
from growth.kube.events import (
    EventLimits,
    EventMetrics,
    EventRecorder,
    EventsOnServer,
    EventSource,
)
from tests.events.api_model import ModelConnection
from tests.events.stories import no_place, wall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.looptime

SOURCE = EventSource("growth.dev/reconciler", "reconciler-0")


def now() -> float:
    return asyncio.get_running_loop().time()


@contextlib.asynccontextmanager
async def recording(
    api: ModelConnection,
    *,
    limits: EventLimits | None = None,
    registry: CollectorRegistry | None = None,
) -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(
        EventsOnServer(api, SOURCE),
        concerns=lambda reference: reference.namespace != "theirs",
        metrics=EventMetrics(registry or CollectorRegistry()),
        limits=limits,
        clock=now,
        wall=lambda: wall(now()),
    )
    task = asyncio.create_task(recorder.run())
    yield recorder
    await asyncio.sleep(0.1)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@pytest.fixture
def api() -> ModelConnection:
    return ModelConnection()


def only(api: ModelConnection) -> dict[str, object]:
    (event,) = api.events.values()
    return event


async def test_an_event_is_told_at_once(api: ModelConnection) -> None:
    async with recording(api) as recorder:
        recorder.emit(no_place())
        await asyncio.sleep(0.01)
        assert only(api)["note"] == "needs 96Gi of memory"


async def test_a_series_is_continued_on_the_same_event(api: ModelConnection) -> None:
    async with recording(api) as recorder:
        for _ in range(30):
            recorder.emit(no_place())
            await asyncio.sleep(10)
        await asyncio.sleep(1)
    assert only(api)["series"] == {"count": 30, "lastObservedTime": "2026-01-01T00:04:50.000000Z"}
    assert api.writes == 2


async def test_nothing_is_said_of_foreign_objects(api: ModelConnection) -> None:
    async with recording(api) as recorder:
        recorder.emit(no_place(namespace="theirs"))
    assert api.events == {}


async def test_the_next_run_continues_the_series_but_not_sooner_than_the_window_ends(
    api: ModelConnection,
) -> None:
    for _ in range(3):
        async with recording(api) as recorder:
            recorder.emit(no_place())
    assert api.writes == 1
    async with recording(api) as recorder:
        recorder.emit(no_place())
        await asyncio.sleep(301)
    assert only(api)["series"] == {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.300000Z"}


async def test_a_run_long_after_continues_the_series_at_once(api: ModelConnection) -> None:
    async with recording(api) as recorder:
        recorder.emit(no_place())
    await asyncio.sleep(1000)
    async with recording(api) as recorder:
        recorder.emit(no_place())
        await asyncio.sleep(0.1)
        assert only(api)["series"] == {
            "count": 2,
            "lastObservedTime": "2026-01-01T00:16:40.100000Z",
        }


async def test_a_series_whose_event_the_api_server_has_forgotten_is_begun_again(
    api: ModelConnection,
) -> None:
    async with recording(api) as recorder:
        recorder.emit(no_place())
        await asyncio.sleep(1)
        recorder.emit(no_place())
        api.events.clear()
        await asyncio.sleep(300)
    assert only(api)["series"] == {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}


async def test_an_api_server_that_fails_for_a_moment_loses_no_event(api: ModelConnection) -> None:
    async with recording(api) as recorder:
        api.error = RetryLater("restarts")
        recorder.emit(no_place())
        await asyncio.sleep(0.5)
        api.error = None
        await asyncio.sleep(1)
        assert len(api.events) == 1


@pytest.mark.parametrize("error", [RetryLater("down"), Misconfigured("may not create events")])
async def test_what_the_api_server_never_takes_is_counted_and_told_once_a_minute(
    api: ModelConnection, error: Exception
) -> None:
    registry = CollectorRegistry()
    api.error = error
    with capture_logs() as logs:
        async with recording(api, registry=registry) as recorder:
            for number in range(5):
                recorder.emit(no_place(number))
            await asyncio.sleep(130)
    dropped = registry.get_sample_value("growth_events_dropped_total", {"cause": "failed"})
    assert dropped == 5
    lines = [line for line in logs if line["event"] == "some events were dropped"]
    assert len(lines) == 1
    assert (lines[0]["failed"], lines[0]["error"]) == (5, str(error))


async def test_a_queue_that_nobody_empties_stays_bounded(api: ModelConnection) -> None:
    registry = CollectorRegistry()
    async with recording(api, limits=EventLimits(queue=3), registry=registry) as recorder:
        for number in range(10):
            recorder.emit(no_place(number))
    dropped = registry.get_sample_value("growth_events_dropped_total", {"cause": "queue"})
    assert dropped == 7
    assert len(api.events) == 3


async def test_a_flood_for_hours_stays_within_the_budget_and_memory_returns(
    api: ModelConnection,
) -> None:
    registry = CollectorRegistry()
    async with recording(api, limits=EventLimits(subjects=150), registry=registry) as recorder:
        for round_ in range(6):
            for number in range(200):
                recorder.emit(no_place(number))
            subjects = registry.get_sample_value("growth_events_subjects")
            assert subjects is not None
            assert subjects <= 150, round_
            await asyncio.sleep(600)
        await asyncio.sleep(3700)
        assert registry.get_sample_value("growth_events_subjects") == 0
    assert 150 < api.writes <= 60 * 2 * 60
    assert 150 <= len(api.events) <= 200
