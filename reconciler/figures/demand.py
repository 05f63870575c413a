"""Metrics of waiting pods: their number by state, and why pods have no place."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from growth.demand.entry import State
from reconciler.planning.tries import LeftOutCause, PodTries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from growth.demand.entry import DemandEntry
    from growth.instant import Instant
    from reconciler.core.world import World


class WaitingState(StrEnum):
    """The state of a pod without a node."""

    HELD = "held"
    """It is on hold, because it has or is about to get a place without a new machine."""
    UNPLANNED = "unplanned"
    """It is part of the next plan."""
    PLACED = "placed"
    """It has a place on a machine that is on its way, or on a node with room."""
    RESTING = "resting"
    """The last plan had no place for it, and it waits for a later one."""
    BACKING_OFF = "backing_off"
    """Many plans had no place for it, and it waits until something changes."""


def demand_families(world: World, now: Instant) -> Iterator[Metric]:
    """The metrics of demand."""
    pods = GaugeMetricFamily(
        "growth_pending_pods",
        "Pods for which the scheduler has found no node, by state: held, unplanned, placed, "
        "resting, backing_off",
        labels=("standing",),
    )
    counted = Counter(_standing(uid, entry, world, now) for uid, entry in _entries(world))
    for standing in WaitingState:
        pods.add_metric((standing.value,), counted[standing])
    yield pods
    yield _oldest(world, now)
    yield _unplaced(world)


def _entries(world: World) -> Iterator[tuple[str, DemandEntry]]:
    return ((uid, each) for uid, each in world.demand.entries.items() if uid in world.pending)


def _standing(uid: str, entry: DemandEntry, world: World, now: Instant) -> WaitingState:
    planning = world.ledger.planning
    if entry.state is State.HELD:
        return WaitingState.HELD
    if uid in planning.nominated.places:
        return WaitingState.PLACED
    tried = planning.tries.get(uid)
    match tried.standing(now.monotonic) if tried is not None else PodTries.NORMAL:
        case PodTries.BACK_OFF:
            return WaitingState.BACKING_OFF
        case PodTries.WAITING:
            return WaitingState.RESTING
        case _:
            return WaitingState.UNPLANNED


def _oldest(world: World, now: Instant) -> Metric:
    oldest = GaugeMetricFamily(
        "growth_pending_oldest_seconds",
        "Time for which the pod that waits longest for a machine has been demand; 0 without one",
    )
    since = [each.since for _, each in _entries(world) if each.state is State.DEMAND]
    oldest.add_metric((), max((now.seconds_since(each) for each in since), default=0.0))
    return oldest


def _unplaced(world: World) -> Metric:
    unplaced = GaugeMetricFamily(
        "growth_unplaced_pods",
        "Pods without a place in the last plans, by cause: PoolNotFound, NoPlace, Limited, "
        "Overtaken",
        labels=("cause",),
    )
    counted = Counter(each.cause for each in world.ledger.planning.tries.values())
    for cause in LeftOutCause:
        unplaced.add_metric((cause.value,), counted[cause])
    return unplaced
