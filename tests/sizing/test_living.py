"""Stories of workloads on a virtual clock: what must never happen over hours and days."""

from __future__ import annotations

import itertools
import random
from datetime import timedelta
from fractions import Fraction

import pytest

from sizing.rule.applying import (
    ApplyRules,
    EvictForSize,
    Fallback,
    ResizePod,
    SetReplicas,
    StepReason,
)
from sizing.rule.blocking import BlockReason
from tests.sizing.build import MAIN
from tests.sizing.living import LivingWorkload, ramp, steady, stepping

DAY = 24 * 60.0


def distinct(counts: list[int]) -> list[int]:
    return [count for count, _ in itertools.groupby(counts)]


def test_a_load_that_rises_and_falls_takes_the_stairs_and_back() -> None:
    workload = LivingWorkload(ramp(0.1, 12, 12 * 60), half_life=10)
    workload.live(26 * 60)
    assert distinct(workload.replicas_over_time) == [1, 2, 3, 4, 3, 2, 1]


def test_a_load_that_grew_once_adds_replicas_once_although_the_vpa_remembers_for_a_day() -> None:
    workload = LivingWorkload(stepping((0, 0.4), (60, 0.9)))
    workload.live(2 * DAY)
    assert distinct(workload.replicas_over_time) == [1, 2]
    assert workload.capacity < 1300


def test_a_load_that_goes_on_growing_is_followed_although_the_vpa_is_stale() -> None:
    workload = LivingWorkload(stepping((0, 0.4), (60, 0.9), (90, 3)))
    workload.live(DAY)
    assert distinct(workload.replicas_over_time) == [1, 2, 3]
    assert workload.capacity >= 3000


def test_a_load_near_a_boundary_changes_the_replicas_once_an_hour_at_most() -> None:
    workload = LivingWorkload(lambda minute: 1.74 * (1.05 if int(minute) % 2 else 0.95))
    workload.half_life = 1
    workload.live(60)
    assert workload.changes_of_replicas <= 1


def test_a_recommender_that_begins_anew_shrinks_nothing() -> None:
    workload = LivingWorkload(steady(5), half_life=10)
    workload.live(60)
    before = (workload.size(), len(workload.written))
    workload.samples, workload.target = 0, Fraction(25)
    workload.one_pass()
    assert (workload.size(), len(workload.written)) == before
    assert workload.tells is not None
    assert workload.tells.decision is not None
    assert workload.tells.decision.blocked is not None
    assert workload.tells.decision.blocked.reason is BlockReason.SOURCE_UNAVAILABLE


def test_hpa_and_vpa_together_come_to_rest() -> None:
    workload = LivingWorkload(steady(3), has_hpa=True)
    workload.live(30)
    writes = len(workload.written)
    workload.live(6 * 60)
    assert len(workload.written) == writes
    assert workload.replicas == 3


def test_more_replicas_are_there_before_pods_change_and_fewer_after() -> None:
    out = LivingWorkload(stepping((0, 0.4), (5, 0.9)), half_life=10)
    out.live(20)
    assert isinstance(next(step for _, step in out.written), SetReplicas)
    back = LivingWorkload(stepping((0, 3.0), (5, 0.2)), half_life=10, replicas=3)
    back.live(5 * 60)
    counts = (place for place, (_, step) in enumerate(back.written) if step == SetReplicas(2))
    at = next(counts)
    assert isinstance(back.written[at - 1][1], ResizePod)


def test_one_pod_shrinks_before_all_others() -> None:
    workload = LivingWorkload(stepping((0, 5), (5, 4)), replicas=3, half_life=10)
    workload.live(60)
    first, *_ = shrinking = [moment for moment, step in workload.written if step_is_resize(step)]
    assert shrinking.count(first) == 1


def step_is_resize(step: object) -> bool:
    return isinstance(step, ResizePod)


def test_all_pods_together_have_what_is_used_during_each_change() -> None:
    workload = LivingWorkload(ramp(0.1, 12, 12 * 60), half_life=10)
    for _ in range(26 * 60):
        before = workload.use
        workload.live(1)
        # A new pod takes two passes until it is ready, in which the load goes on growing.
        assert workload.capacity * Fraction(12, 10) >= before


def test_a_resize_that_waits_for_room_ends_in_one_eviction_after_another() -> None:
    workload = LivingWorkload(stepping((0, 2.1), (5, 4)), replicas=3, half_life=10, is_full=True)
    workload.live(60)
    evicted = [moment for moment, step in workload.written if isinstance(step, EvictForSize)]
    assert len(evicted) == 3
    assert all(later - one >= timedelta(minutes=2) for one, later in itertools.pairwise(evicted))
    assert {pod.requests[MAIN] for pod in workload.pods} == {1534}


def test_without_a_fallback_nothing_is_evicted() -> None:
    stays = ApplyRules(fallback=Fallback.NONE)
    workload = LivingWorkload(
        stepping((0, 2.1), (5, 4)), applying=stays, replicas=3, half_life=10, is_full=True
    )
    workload.live(60)
    assert not [step for _, step in workload.written if isinstance(step, EvictForSize)]
    assert workload.tells is not None
    assert workload.tells.next.waits_for is StepReason.RESIZE_DEFERRED


def test_a_field_of_somebody_else_is_tried_once_in_ten_minutes() -> None:
    workload = LivingWorkload(stepping((0, 0.4), (5, 0.9)), owner_refuses=True)
    workload.live(60)
    tries = [moment for moment, step in workload.written if isinstance(step, SetReplicas)]
    assert 5 <= len(tries) <= 6
    assert all(b - a >= timedelta(minutes=10) for a, b in itertools.pairwise(tries))


def test_a_rollout_is_left_alone() -> None:
    workload = LivingWorkload(stepping((0, 0.4), (5, 0.9)), is_rolling_out=True)
    workload.live(30)
    assert workload.written == []
    assert workload.tells is not None
    assert workload.tells.next.waits_for is StepReason.ROLLOUT_IN_PROGRESS
    workload.is_rolling_out = False
    workload.live(10)
    assert workload.replicas == 2


@pytest.mark.parametrize("seed", range(5))
def test_a_process_that_dies_at_any_write_comes_to_the_same_end(seed: int) -> None:
    chance = random.Random(seed)
    load = stepping((0, 0.4), (5, 3), (120, 7), (300, 0.1))

    def deaths() -> int | None:
        return chance.choice([None, 0, 0, 1])

    calm, dying = (LivingWorkload(load, half_life=10) for _ in range(2))
    calm.live(600)
    dying.live(600, dies_after=deaths)
    assert distinct(dying.replicas_over_time) == distinct(calm.replicas_over_time)
    assert dying.replicas == calm.replicas
