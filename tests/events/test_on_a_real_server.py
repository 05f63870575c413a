"""Events as people meet them: with kubectl, on a real API server."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from growth.kube.events import (
    Event,
    EventMetrics,
    EventRecorder,
    EventsOnServer,
    EventSource,
    ObjectReference,
    Severity,
)
from growth.kube.transport import connect
from tests.events.stories import no_place, wall
from tests.live import IN_TIME

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

SOURCE = EventSource("growth.dev/reconciler", "reconciler-0")


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def advance(self, seconds: float, recorder: EventRecorder) -> None:
        """The recorder sleeps on the real clock, and is woken here instead."""
        self.now += seconds
        recorder._arrived.set()


@contextlib.asynccontextmanager
async def recording(
    cluster: LiveCluster, clock: Clock, registry: CollectorRegistry
) -> AsyncIterator[EventRecorder]:
    async with await connect(kubeconfig=cluster.kubeconfig) as connection:
        recorder = EventRecorder(
            EventsOnServer(connection, SOURCE),
            concerns=lambda _: True,
            metrics=EventMetrics(registry),
            clock=lambda: clock.now,
            wall=lambda: wall(clock.now),
        )
        task = asyncio.create_task(recorder.run())
        yield recorder
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def written(registry: CollectorRegistry) -> float:
    return registry.get_sample_value("growth_events_written_total") or 0


async def until_written(registry: CollectorRegistry, count: int) -> None:
    async with asyncio.timeout(IN_TIME):
        while written(registry) < count:  # noqa: ASYNC110 - a counter has no event
            await asyncio.sleep(0.01)


def events(cluster: LiveCluster, namespace: str) -> list[dict[str, Any]]:
    found = cluster.get("events.v1.events.k8s.io", "-n", namespace)
    items: list[dict[str, Any]] = found["items"]
    return items


@pytest.fixture
def pod(cluster: LiveCluster, namespace: str) -> ObjectReference:
    """A pod that nothing schedules."""
    name = "import-0"
    spec = {
        "schedulerName": "nobody",
        "containers": [{"name": "main", "image": "none"}],
    }
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    cluster.create(body, namespace=namespace)
    uid = cluster.get("pod", name, "-n", namespace)["metadata"]["uid"]
    return ObjectReference("v1", "Pod", name, namespace, uid)


def about(
    regarding: ObjectReference, note: str = "needs 96Gi of memory; the largest has 28Gi"
) -> Event:
    pool = ObjectReference("growth.dev/v1alpha1", "NodePool", "default")
    return Event(
        regarding=regarding,
        related=pool,
        reason="NoPlace",
        action="Planning",
        note=note,
        severity=Severity.WARNING,
    )


async def test_an_event_and_its_series_are_found_where_people_look(
    cluster: LiveCluster, namespace: str, pod: ObjectReference
) -> None:
    clock, registry = Clock(), CollectorRegistry()
    async with recording(cluster, clock, registry) as recorder:
        recorder.emit(about(pod))
        await until_written(registry, 1)
        clock.now = 10
        recorder.emit(about(pod))
        recorder.emit(about(pod))
        clock.advance(291, recorder)
        await until_written(registry, 2)
    (event,) = events(cluster, namespace)
    shown = {key: event[key] for key in ("type", "reason", "action", "note", "regarding")}
    assert shown == {
        "type": "Warning",
        "reason": "NoPlace",
        "action": "Planning",
        "note": "needs 96Gi of memory; the largest has 28Gi",
        "regarding": msgspec.to_builtins(pod),
    }
    assert event["related"]["name"] == "default"
    assert event["series"] == {"count": 3, "lastObservedTime": "2026-01-01T00:00:10.000000Z"}
    assert event["reportingController"] == SOURCE.controller
    for command in (("events", "--for", f"pod/{pod.name}"), ("describe", "pod", pod.name)):
        assert "needs 96Gi of memory" in cluster.kubectl(*command, "-n", namespace)


async def test_the_next_run_continues_the_series(
    cluster: LiveCluster, namespace: str, pod: ObjectReference
) -> None:
    clock = Clock()
    for run in range(3):
        registry = CollectorRegistry()
        async with recording(cluster, clock, registry) as recorder:
            clock.now = run * 400
            recorder.emit(about(pod))
            await until_written(registry, 1)
    (event,) = events(cluster, namespace)
    assert event["series"]["count"] == 3


async def test_long_and_strange_notes_are_taken(
    cluster: LiveCluster, namespace: str, pod: ObjectReference
) -> None:
    registry = CollectorRegistry()
    notes = ["é" * 3000, 'quotes " and \\ and \u2028', "x" * 1024]
    async with recording(cluster, Clock(), registry) as recorder:
        for number, note in enumerate(notes):
            event = about(pod, note)
            recorder.emit(msgspec.structs.replace(event, reason=f"Reason{number}"))
        await until_written(registry, len(notes))
    assert len(events(cluster, namespace)) == len(notes)


async def test_an_event_on_an_object_without_a_namespace_is_found_in_default(
    cluster: LiveCluster, namespace: str
) -> None:
    name = f"node-of-{namespace}"
    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    uid = cluster.get("node", name)["metadata"]["uid"]
    registry = CollectorRegistry()
    async with recording(cluster, Clock(), registry) as recorder:
        recorder.emit(about(ObjectReference("v1", "Node", name, uid=uid), "bought for 12 pods"))
        await until_written(registry, 1)
    assert "bought for 12 pods" in cluster.kubectl("describe", "node", name)
    assert "bought for 12 pods" in cluster.kubectl("events", "--for", f"node/{name}")
    cluster.kubectl("delete", "node", name, "--wait=false")


async def flood(cluster: LiveCluster, namespace: str, *, hours: float) -> int:
    """A thousand pods without a place, seen every four minutes; how much was written."""
    clock, registry, pods = Clock(), CollectorRegistry(), 1000
    async with recording(cluster, clock, registry) as recorder:
        while clock.now < hours * 3600:
            for number in range(pods):
                recorder.emit(no_place(number, namespace=namespace))
            await asyncio.sleep(0)
            for _ in range(4):
                clock.advance(60, recorder)
                await nothing_more_is_written(registry)
    failed = registry.get_sample_value("growth_events_dropped_total", {"cause": "failed"})
    assert not failed
    return int(written(registry))


async def nothing_more_is_written(registry: CollectorRegistry) -> None:
    """Until six looks in a row show the same: on a busy machine one write may take a while."""
    before, alike = -1.0, 0
    while alike < 6:
        now = written(registry)
        before, alike = now, alike + 1 if now == before else 0
        await asyncio.sleep(0.05)


async def test_a_thousand_pods_without_a_place_write_no_more_than_the_budget(
    cluster: LiveCluster, namespace: str
) -> None:
    count = await flood(cluster, namespace, hours=0.2)
    assert 300 < count <= 30 + 30 * 12
    assert len(events(cluster, namespace)) <= count


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_a_thousand_pods_without_a_place_for_a_day_stay_within_the_budget(
    cluster: LiveCluster, namespace: str
) -> None:
    count = await flood(cluster, namespace, hours=24)
    assert count <= 30 + 30 * 24 * 60
    found = json.loads(
        cluster.kubectl("get", "--raw", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")
    )
    assert len(found["items"]) <= 1000
