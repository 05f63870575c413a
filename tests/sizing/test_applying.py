"""The next steps from the pods that run to the size that is wanted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sizing.rule.applying import (
    REACHED,
    ApplyRules,
    EvictForSize,
    NextSteps,
    ResizePod,
    ResizeProgress,
    SetReplicas,
    SizedPod,
    SizedWorkload,
    StepReason,
    next_steps,
)
from sizing.rule.sizing import WorkloadSize
from tests.sizing.build import HEAP, MAIN, NOW

if TYPE_CHECKING:
    from sizing.rule.applying import SizingStep

LONG_AGO = NOW - timedelta(minutes=5)


def pods(*cpu: int, **more: Any) -> tuple[SizedPod, ...]:
    return tuple(
        SizedPod(name=f"pod-{place}", requests={MAIN: each}, **more)
        for place, each in enumerate(cpu)
    )


def steps(workload: SizedWorkload, replicas: int, cpu: int) -> NextSteps:
    size = WorkloadSize(replicas=replicas, requests={MAIN: cpu}, limits={})
    return next_steps(workload, size, ApplyRules(), NOW)


@pytest.mark.parametrize(
    ("present", "replicas", "wanted", "expected"),
    [
        ((500, 500), 2, 500, ()),
        ((500,), 2, 400, (SetReplicas(2),)),
        ((500,), 2, 600, (SetReplicas(2),)),
        ((500, 500), 1, 900, (ResizePod("pod-0"), ResizePod("pod-1"))),
        ((900, 900), 1, 900, (SetReplicas(1),)),
        ((500, 500, 500), 3, 400, (ResizePod("pod-0"),)),
        ((400, 500, 500), 3, 400, (ResizePod("pod-1"), ResizePod("pod-2"))),
        ((300, 500, 400), 3, 400, (ResizePod("pod-0"),)),
    ],
)
def test_counts_and_sizes_change_in_the_order_that_keeps_the_load_served(
    present: tuple[int, ...], replicas: int, wanted: int, expected: tuple[SizingStep, ...]
) -> None:
    workload = SizedWorkload(replicas=len(present), pods=pods(*present))
    assert steps(workload, replicas, wanted).steps == expected


def test_a_pod_that_grows_in_one_resource_and_shrinks_in_another_counts_as_growing() -> None:
    one = SizedPod(name="pod-0", requests={MAIN: 500, HEAP: 2})
    workload = SizedWorkload(replicas=2, pods=(one, replace(one, name="pod-1")))
    size = WorkloadSize(replicas=2, requests={MAIN: 400, HEAP: 3}, limits={})
    found = next_steps(workload, size, ApplyRules(), NOW)
    assert found.steps == (ResizePod("pod-0"), ResizePod("pod-1"))


def test_nothing_shrinks_while_a_pod_is_not_ready() -> None:
    first, second = pods(500, 500)
    workload = SizedWorkload(replicas=2, pods=(first, replace(second, is_ready=False)))
    assert steps(workload, 2, 400) == NextSteps(waits_for=StepReason.PODS_NOT_READY)


def test_a_resize_that_waits_is_not_the_end_although_the_spec_has_the_size() -> None:
    waits = {"progress": ResizeProgress.DEFERRED, "since": NOW}
    early = SizedWorkload(replicas=2, pods=pods(500, 500, **waits))
    assert steps(early, 2, 500) == NextSteps(waits_for=StepReason.RESIZE_DEFERRED)
    late = SizedWorkload(replicas=2, pods=pods(500, 500, **waits | {"since": LONG_AGO}))
    assert steps(late, 2, 500).steps == (EvictForSize("pod-0"),)


def test_what_fits_no_node_is_not_evicted() -> None:
    stuck = {"progress": ResizeProgress.INFEASIBLE, "since": LONG_AGO, "has_larger_node": False}
    workload = SizedWorkload(replicas=1, pods=pods(500, **stuck))
    assert steps(workload, 1, 900) == NextSteps(waits_for=StepReason.RESIZE_INFEASIBLE)
    fits = SizedWorkload(replicas=1, pods=pods(500, **stuck | {"has_larger_node": True}))
    assert steps(fits, 1, 900).steps == (EvictForSize("pod-0"),)


def test_a_paused_workload_is_left_alone() -> None:
    workload = SizedWorkload(replicas=1, pods=pods(500), is_paused=True)
    assert steps(workload, 3, 900) == NextSteps(waits_for=StepReason.PAUSED)
    assert steps(workload, 1, 500) == REACHED


def test_a_pod_that_cannot_be_resized_yet_keeps_no_other_one_waiting() -> None:
    first, second = pods(500, 500)
    new = replace(first, is_resizable=False, is_ready=False)
    assert steps(SizedWorkload(replicas=2, pods=(new, second)), 2, 900).steps == (
        ResizePod("pod-1"),
    )
    alone = SizedWorkload(replicas=1, pods=(replace(new, is_ready=True),))
    assert steps(alone, 1, 900) == NextSteps(waits_for=StepReason.PODS_NOT_READY)
