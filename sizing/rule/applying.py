"""The next steps from the pods that run to the size that is wanted.

A step is decided from what is seen, never from what was done before, so that it doesn't matter
where a process ends and begins again.

- More replicas: first their number, as new pods are created in the new size; then the others grow.
- Fewer replicas: first the sizes, so that those that stay can take the load; then their number.
- Pods that grow come before pods that shrink. One pod shrinks alone; once it is ready, the others.
- A pod that can't be resized where it is may be evicted, one at a time, while all others are ready.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sizing.rule.sizing import Rounded, WorkloadSize

REFUSED_FOR: Final = timedelta(minutes=10)
"""How long nothing is written after a write was refused, as by somebody else's ownership."""


class ResizeProgress(enum.Enum):
    """What the kubelet says about a resize."""

    DONE = "Done"
    """There is none, or it has ended."""
    IN_PROGRESS = "InProgress"
    DEFERRED = "Deferred"
    """The node has no room now."""
    INFEASIBLE = "Infeasible"
    """The node will never have room, or the API server has said so at once."""


class StepReason(enum.Enum):
    """Why there is nothing to do, although the size isn't reached."""

    PAUSED = "Paused"
    ROLLOUT_IN_PROGRESS = "RolloutInProgress"
    OWNED_BY_OTHER = "OwnedByOther"
    RESIZE_IN_PROGRESS = "ResizeInProgress"
    RESIZE_DEFERRED = "ResizeDeferred"
    RESIZE_INFEASIBLE = "ResizeInfeasible"
    WRITE_REFUSED = "WriteRefused"
    PODS_NOT_READY = "PodsNotReady"


class Fallback(enum.Enum):
    """What happens to a pod that can't be resized where it is."""

    EVICT = "Evict"
    NONE = "None"


@dataclass(frozen=True, kw_only=True)
class ApplyRules:
    """How sizes are applied."""

    fallback: Fallback = Fallback.EVICT
    deferred_for: timedelta = timedelta(minutes=5)
    """A resize that waits for room for longer is ended by an eviction."""
    in_progress_for: timedelta = timedelta(hours=1)
    """The same for one that the kubelet doesn't finish."""


@dataclass(frozen=True, kw_only=True)
class SizedPod:
    """A pod of the workload, as it runs."""

    name: str
    requests: Rounded
    limits: Rounded = field(default_factory=dict)
    is_ready: bool = True
    is_resizable: bool = True
    """Whether its kubelet says what it has; the API server refuses a resize before."""
    progress: ResizeProgress = ResizeProgress.DONE
    since: datetime | None = None
    """When the progress was first seen."""
    has_larger_node: bool = True
    """Whether any node or offer has room for it in the size that is wanted."""

    def has(self, size: WorkloadSize) -> bool:
        """Whether it has this size."""
        return self.requests == size.requests and self.limits == size.limits

    def grows_to(self, size: WorkloadSize) -> bool:
        """Whether it has less of anything than in this size."""
        wanted = (*_lacking(self.requests, size.requests), *_lacking(self.limits, size.limits))
        return any(wanted)


@dataclass(frozen=True, kw_only=True)
class SizedWorkload:
    """A workload, as it runs."""

    replicas: int
    pods: tuple[SizedPod, ...]
    is_paused: bool = False
    is_rolling_out: bool = False
    refused_at: datetime | None = None
    """When a write was last refused, such as because somebody else owns the field."""
    refusal: StepReason = StepReason.OWNED_BY_OTHER
    """Why it was refused."""

    @property
    def is_complete(self) -> bool:
        """Whether all its pods exist and are ready."""
        return len(self.pods) == self.replicas and all(pod.is_ready for pod in self.pods)


@dataclass(frozen=True)
class SetReplicas:
    """Write the number of replicas."""

    count: int


@dataclass(frozen=True)
class ResizePod:
    """Give one pod the size that is wanted."""

    name: str


@dataclass(frozen=True)
class EvictForSize:
    """Evict one pod; its successor is created in the size that is wanted."""

    name: str


SizingStep: TypeAlias = SetReplicas | ResizePod | EvictForSize


@dataclass(frozen=True, kw_only=True)
class NextSteps:
    """What to do now, or why there is nothing to do now."""

    steps: tuple[SizingStep, ...] = ()
    waits_for: StepReason | None = None
    until: datetime | None = None


REACHED: Final = NextSteps()


def is_reached(workload: SizedWorkload, size: WorkloadSize) -> bool:
    """Whether the workload has this size."""
    # While a resize waits for room, the pod's spec has the size already.
    is_everywhere = all(pod.has(size) and _is_idle(pod) for pod in workload.pods)
    return workload.replicas == size.replicas and workload.is_complete and is_everywhere


def next_steps(
    workload: SizedWorkload, size: WorkloadSize, rules: ApplyRules, now: datetime
) -> NextSteps:
    """The steps towards a size."""
    if is_reached(workload, size):
        return REACHED
    hindered = _hindrance(workload, now)
    if hindered is not None:
        return hindered
    if size.replicas > workload.replicas:
        return NextSteps(steps=(SetReplicas(size.replicas),))
    return _resizing(workload, size, rules, now) or _fewer(workload, size)


def _hindrance(workload: SizedWorkload, now: datetime) -> NextSteps | None:
    if workload.is_paused:
        return NextSteps(waits_for=StepReason.PAUSED)
    if workload.is_rolling_out:
        return NextSteps(waits_for=StepReason.ROLLOUT_IN_PROGRESS)
    if workload.refused_at is not None and now < workload.refused_at + REFUSED_FOR:
        until = workload.refused_at + REFUSED_FOR
        return NextSteps(waits_for=workload.refusal, until=until)
    return None


def _resizing(
    workload: SizedWorkload, size: WorkloadSize, rules: ApplyRules, now: datetime
) -> NextSteps | None:
    """The next resize or eviction; None if all pods have the size."""
    other = [pod for pod in workload.pods if not pod.has(size)]
    able = [pod for pod in other if pod.is_resizable]
    growing = [pod for pod in able if pod.grows_to(size) and _is_idle(pod)]
    if growing:
        return NextSteps(steps=tuple(ResizePod(pod.name) for pod in growing))
    stuck = [pod for pod in workload.pods if not _is_idle(pod)]
    if stuck:
        return _unsticking(workload, stuck, rules, now)
    if not other:
        return None
    if not (able and workload.is_complete):
        return NextSteps(waits_for=StepReason.PODS_NOT_READY)
    is_first = len(other) == len(workload.pods)
    return NextSteps(steps=tuple(ResizePod(pod.name) for pod in able[: 1 if is_first else None]))


def _unsticking(
    workload: SizedWorkload, stuck: Iterable[SizedPod], rules: ApplyRules, now: datetime
) -> NextSteps:
    """Evict one pod whose resize has no end, if all others are ready."""
    pods = list(stuck)
    overdue = [pod for pod in pods if _is_overdue(pod, rules, now) and pod.has_larger_node]
    may_evict = rules.fallback is Fallback.EVICT and workload.is_complete
    if overdue and may_evict:
        return NextSteps(steps=(EvictForSize(overdue[0].name),))
    reasons = {pod.progress: _WAITING[pod.progress] for pod in pods}
    return NextSteps(waits_for=min(reasons.values(), key=list(StepReason).index))


def _is_overdue(pod: SizedPod, rules: ApplyRules, now: datetime) -> bool:
    patience = _PATIENCE.get(pod.progress, "")
    wait = getattr(rules, patience) if patience else timedelta()
    return pod.since is not None and now - pod.since >= wait


def _fewer(workload: SizedWorkload, size: WorkloadSize) -> NextSteps:
    if size.replicas < workload.replicas:
        return NextSteps(steps=(SetReplicas(size.replicas),))
    return NextSteps(waits_for=StepReason.PODS_NOT_READY)


def _is_idle(pod: SizedPod) -> bool:
    return pod.progress is ResizeProgress.DONE


def _lacking(present: Rounded, wanted: Rounded) -> Iterable[bool]:
    return (present.get(part, 0) < amount for part, amount in wanted.items())


_WAITING: Final[Mapping[ResizeProgress, StepReason]] = {
    ResizeProgress.IN_PROGRESS: StepReason.RESIZE_IN_PROGRESS,
    ResizeProgress.DEFERRED: StepReason.RESIZE_DEFERRED,
    ResizeProgress.INFEASIBLE: StepReason.RESIZE_INFEASIBLE,
}
_PATIENCE: Final = {
    ResizeProgress.IN_PROGRESS: "in_progress_for",
    ResizeProgress.DEFERRED: "deferred_for",
}
