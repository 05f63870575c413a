"""Metrics of the time that pods take from pending to bound, by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import prometheus_client as prometheus

from reconciler.figures.journeys import Arrived, Journeys, JourneyStage, Passed, Seat

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 60, 90, 120, 300, 900)


class StageFigures:
    """The histograms of single stages and of the whole time."""

    def __init__(
        self, registry: CollectorRegistry, *, pod_of: Callable[[str, str], Pod | None]
    ) -> None:
        self._pod_of = pod_of
        self._journeys = Journeys(pod_of)
        stages = prometheus.Histogram(
            "growth_pod_stage_seconds",
            "Time from the previous stage of a pod to this one: seen (as demand, after its "
            "creation, which has whole seconds), planned, requested, created, joined, bound",
            ("stage",),
            buckets=SECONDS,
            registry=registry,
        )
        whole = prometheus.Histogram(
            "growth_pod_bound_seconds",
            "Time from when a pod became demand until it was bound; machine says whether one was "
            "bought for it",
            ("machine",),
            buckets=SECONDS,
            registry=registry,
        )
        seats = prometheus.Counter(
            "growth_pod_seats",
            "Pods that a machine was bought for, by whether they were bound to a machine that was "
            "bought for pods of their workload: planned, other",
            ("seat",),
            registry=registry,
        )
        # Looked up once, because the pods of a burst are observed one by one.
        self._stages = {stage: stages.labels(stage.value) for stage in JourneyStage}
        self._whole = {True: whole.labels("yes"), False: whole.labels("no")}
        self._seats = {seat: seats.labels(seat.value) for seat in (Seat.PLANNED, Seat.OTHER)}

    def look(self, world: World, now: Instant) -> None:
        """Record the stages that pods have reached."""
        for happened in self._journeys.follow(world, now):
            match happened:
                case Passed(stage=stage, seconds=seconds):
                    self._stages[stage].observe(seconds)
                case Arrived(seconds=seconds, seat=seat):
                    self._whole[seat is not Seat.NONE].observe(seconds)
                    if seat in self._seats:
                        self._seats[seat].inc()
                case _:
                    assert_never(happened)

    def forget(self) -> None:
        """Start again: the time until the next World doesn't count for any pod."""
        self._journeys = Journeys(self._pod_of)
