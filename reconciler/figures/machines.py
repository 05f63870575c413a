"""Metrics of requests and removals by phase, and of sequences in progress."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from growth.api.noderequest import RequestPhase
from reconciler.core.actions import SubjectKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from growth.instant import Instant
    from reconciler.core.world import World


def machine_families(world: World, now: Instant) -> Iterator[Metric]:
    """The metrics of requests, removals and sequences."""
    yield from _requests(world, now)
    yield _removals(world)
    busy = GaugeMetricFamily(
        "growth_busy_subjects",
        "Machines, pools, node classes, pods and lanes with a sequence in progress, or with a "
        "write that the cache hasn't seen yet",
        labels=("kind",),
    )
    counted = Counter(each.kind for each in world.busy)
    for kind in SubjectKind:
        busy.add_metric((kind.value,), counted[kind])
    yield busy


def _requests(world: World, now: Instant) -> Iterator[Metric]:
    requests = GaugeMetricFamily(
        "growth_node_requests", "NodeRequests by phase", labels=("pool", "phase")
    )
    oldest = GaugeMetricFamily(
        "growth_node_request_oldest_seconds",
        "Age of the oldest NodeRequest in each phase",
        labels=("phase",),
    )
    since: defaultdict[RequestPhase, list[float]] = defaultdict(list)
    counted = Counter((each.spec.pool, each.status.phase) for each in world.requests.values())
    for each in world.requests.values():
        began = each.status.last_transition_time or each.metadata.creation_timestamp
        since[each.status.phase].append(0.0 if began is None else now.seconds_since(began))
    for pool in sorted(world.pools.keys() | {pool for pool, _ in counted}):
        for phase in RequestPhase:
            requests.add_metric((pool, phase.value), counted[pool, phase])
    for phase in RequestPhase:
        oldest.add_metric((phase.value,), max(since[phase], default=0.0))
    yield requests
    yield oldest


def _removals(world: World) -> Metric:
    removals = GaugeMetricFamily(
        "growth_node_removals",
        "NodeRemovalRequests by phase and reason",
        labels=("pool", "phase", "reason"),
    )
    counted = Counter(
        (each.spec.pool, each.status.phase.value, each.spec.reason.value)
        for each in world.removals.values()
    )
    for labels, count in sorted(counted.items()):
        removals.add_metric(labels, count)
    return removals
