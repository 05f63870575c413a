"""What always holds of the policy's rules, whatever the numbers."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.scaling_desired import ScaleDownMode
from reconciler.core.measured import UsedShare, UseSample
from reconciler.scaling.desired.cooldowns import ScalingTimes
from reconciler.scaling.desired.counting import SizeCounts, clamped_count, raised_count
from reconciler.scaling.desired.modes import PRESETS, mode_at
from reconciler.scaling.desired.order import DrainCandidate, first_to_go
from reconciler.scaling.desired.safety import ScaleDownCheck, node_block, refuge_of
from reconciler.scaling.desired.use import UseThresholds, is_underused
from tests.reconciler.build import START
from tests.scheduling import build
from tests.scheduling.build import patient

numbers = st.integers(0, 50)


@patient
@given(current=numbers, desired=numbers, least=numbers, room=numbers, batch=numbers)
def test_no_step_leaves_the_bounds(
    current: int, desired: int, least: int, room: int, batch: int
) -> None:
    counts = SizeCounts(current=current, desired=desired, least=least, most=least + room)
    added = max(counts.missing(batch=batch), 0)
    assert added == 0 or current + added <= min(counts.most, desired)
    assert batch == 0 or added <= batch
    assert counts.excess == 0 or current - counts.excess >= max(least, desired)
    assert least <= clamped_count(desired, least=least, most=least + room) <= least + room


@patient
@given(current=numbers, ready=numbers, needed=numbers, batch=numbers, most=numbers)
def test_pending_pods_only_ever_raise_the_number_and_not_while_nodes_come_up(
    current: int, ready: int, needed: int, batch: int, most: int
) -> None:
    counts = SizeCounts(current=current, desired=current, most=most)
    raised = raised_count(counts, ready=ready, needed=needed, batch=batch, cools=False)
    if raised is not None:
        assert ready >= current
        assert current < raised <= min(most, current + needed)


@patient
@given(
    st.lists(
        st.builds(
            DrainCandidate,
            name=st.text(min_size=1, max_size=3),
            is_ready=st.booleans(),
            born=st.integers(0, 3).map(float),
            use=st.none() | st.integers(0, 3).map(Fraction),
        ),
        unique_by=lambda each: each.name,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_going_does_not_depend_on_how_the_nodes_are_listed(
    nodes: list[DrainCandidate], random: object
) -> None:
    ordered = first_to_go(nodes, len(nodes))
    random.shuffle(nodes)  # type: ignore[attr-defined]
    assert first_to_go(nodes, len(nodes)) == ordered
    ready = [each.is_ready for each in ordered]
    assert ready == sorted(ready)


def sample(age: float, percent: int) -> UseSample:
    return UseSample(at=-age, cpu=UsedShare(percent, 100), memory=UsedShare(percent, 100))


@pytest.mark.parametrize("busy", [0, 1, 2, 3])
def test_a_fifth_of_the_samples_may_be_above_the_thresholds(busy: int) -> None:
    samples = [sample(60.0 * age, 90 if age < busy else 10) for age in range(10)]
    assert is_underused(samples, UseThresholds(), now=0.0) is (busy <= 2)


def test_old_samples_say_nothing() -> None:
    samples = [sample(age, 10) for age in (301, 400, 500)]
    assert not is_underused(samples, UseThresholds(), now=0.0)
    assert is_underused([*samples, sample(300, 10)], UseThresholds(), now=0.0)


def test_times_are_stamped_by_direction_and_outlive_a_change_in_the_other() -> None:
    later = START + timedelta(minutes=1)
    times = ScalingTimes(desired=3).resized(5, now=START).resized(4, now=later)
    assert (times.desired, times.grown_at, times.shrunk_at) == (4, START, later)
    assert times.resized(4, now=later + timedelta(minutes=1)) == times


def test_windows_set_the_mode_for_their_hours() -> None:
    plan = PRESETS["cost-saving"]
    modes = {
        hour: mode_at(
            # A Thursday.
            START.replace(hour=hour),
            default=ScaleDownMode.BALANCED,
            windows=plan.windows,
        )
        for hour in (7, 12, 18)
    }
    eager, even = ScaleDownMode.AGGRESSIVE, ScaleDownMode.BALANCED
    assert modes == {7: eager, 12: even, 18: eager}


def blocked(*pods: object, others: int = 1) -> ScaleDownCheck | None:
    going = build.node("going")
    rest = [build.node(f"other-{number}") for number in range(others)]
    cluster = build.cluster(going, *rest, *pods)  # type: ignore[arg-type]
    found = node_block(going, cluster, refuge=refuge_of(rest, cluster))
    return None if found is None else found.reason


APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ]
    }
}


def test_each_check_has_its_reason() -> None:
    def pod(**fields: object) -> object:
        return build.pod(on="going", **fields)  # type: ignore[arg-type]

    apart = build.pod("web-1", labels={"app": "web"}, on="other-0", affinity=APART)
    assert blocked() is None
    assert blocked(pod()) is None
    assert blocked(pod(), others=0) is ScaleDownCheck.CAPACITY
    assert blocked(pod(volumes=[{"name": "data", "emptyDir": {}}])) is ScaleDownCheck.LOCAL_STORAGE
    assert blocked(pod(priority=2_000_000_000)) is ScaleDownCheck.SYSTEM_PODS
    assert blocked(apart, pod(labels={"app": "web"}, affinity=APART)) is ScaleDownCheck.AFFINITY
    assert blocked(pod(nodeSelector={"disk": "fast"})) is ScaleDownCheck.CAPACITY
    assert blocked(pod(requests={"cpu": "3400m"})) is ScaleDownCheck.CAPACITY


def test_pods_together_need_room_even_if_each_alone_has_it() -> None:
    pods = [
        build.pod(f"web-{number}", on="going", requests={"memory": "9Gi"}) for number in range(2)
    ]
    assert blocked(*pods, others=1) is ScaleDownCheck.CAPACITY
    assert blocked(*pods, others=2) is None
