"""Whether a pod may be moved only to save cost or because of drift.

People who come from another autoscaler rely on its annotations and rules. So growth follows the
rules of Karpenter and the Cluster Autoscaler, and where they differ the stricter one. A pod isn't
moved if one of these is true:

    annotation  growth.dev/do-not-disrupt or karpenter.sh/do-not-disrupt: true, or a time after the
                pod's start; safe-to-evict: false or on-completion
    cordon      it tolerates cordoned nodes, so the scheduler may send it back to the same node
    controller  it has none, so nothing would recreate it
    local data  it has a hostPath, or an emptyDir on disk that isn't in safe-to-evict-local-volumes
    system      it is in kube-system, has no budget, and started within the last hour
    budget      its PodDisruptionBudget allows no disruption now, or it has more than one

`safe-to-evict: true` overrides the rules for controller, local data and system. If our annotation
has a value that can't be read, the pod isn't moved, because the value was meant to say something.
Karpenter ignores such a value in its own annotation, and so does growth.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.wellknown import DO_NOT_DISRUPT_ANNOTATION
from growth.api.written import Duration
from growth.foreign_text import time_or_none
from growth.scheduling import budgets
from growth.scheduling.emptiness import keeps_its_node
from growth.scheduling.pod_volumes import sources
from growth.scheduling.taints import UNSCHEDULABLE, untolerated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from growth.instant import Instant
    from growth.scheduling.budgets import PodDisruptionBudget
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.pod import Pod

KARPENTERS: Final = "karpenter.sh/do-not-disrupt"
SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
SYSTEM: Final = "kube-system"
YOUTH: Final = timedelta(hours=1)
"""The Cluster Autoscaler moves pods in kube-system after this time, too."""


class Obstacle(msgspec.Struct, frozen=True):
    """Why a pod may not be moved now."""

    pod: str
    """As namespace/name."""
    why: str
    """For people."""
    passes_at: float | None
    """The monotonic second at which it ends by itself; None if it needs a change."""


def obstacle(pod: Pod, cluster: Cluster, now: Instant) -> Obstacle | None:
    """Why a pod may not be moved because of cost or drift, or None if it may."""
    if not keeps_its_node(pod) or pod.is_terminating:
        return None
    found = reluctance(pod, cluster, now)
    if found is None and (why := budgets.budget_objection(pod, counting(pod, cluster))):
        found = Obstacle(pod.name, why, None)
    return found


def reluctance(pod: Pod, cluster: Cluster, now: Instant) -> Obstacle | None:
    """The same without budgets, which the eviction API checks itself."""
    return next(_reluctances(pod, cluster, now), None)


def _reluctances(pod: Pod, cluster: Cluster, now: Instant) -> Iterator[Obstacle]:
    annotations = pod.metadata.annotations
    if DO_NOT_DISRUPT_ANNOTATION in annotations:
        yield from _said(pod, DO_NOT_DISRUPT_ANNOTATION, now, unreadable="true")
    if KARPENTERS in annotations:
        yield from _said(pod, KARPENTERS, now, unreadable="false")
    safe = annotations.get(SAFE_TO_EVICT)
    if safe in {"false", "on-completion"}:
        yield Obstacle(pod.name, f"its annotation {SAFE_TO_EVICT} is {safe}", None)
    if untolerated((UNSCHEDULABLE,), pod.spec.tolerations) is None:
        yield Obstacle(pod.name, "it tolerates cordoned nodes and could return", None)
    if safe != "true":
        yield from _unsafe(pod, cluster, now)


def _said(pod: Pod, key: str, now: Instant, *, unreadable: str) -> Iterator[Obstacle]:
    value = pod.metadata.annotations[key]
    why = f"its annotation {key} is {value}"
    match _read(value) or unreadable:
        case Duration() as lasting:
            yield from _until(_start(pod), lasting.timedelta, pod, why, now)
        case "true":
            yield Obstacle(pod.name, why, None)
        case _:
            return


def _read(value: str) -> Duration | str | None:
    if value in {"true", "false"}:
        return value
    try:
        return Duration.parse(value)
    except ValueError:
        return None


def _start(pod: Pod) -> datetime | None:
    """When the kubelet started the pod or, if that isn't known, when it was created."""
    return time_or_none(pod.status.start_time) or time_or_none(pod.metadata.creation_timestamp)


def _until(
    start: datetime | None, lasting: timedelta, pod: Pod, why: str, now: Instant
) -> Iterator[Obstacle]:
    """An obstacle for some time after the start; if that isn't known, the time begins now."""
    left = lasting.total_seconds() - (0.0 if start is None else now.seconds_since(start))
    if left > 0:
        yield Obstacle(pod.name, why, now.monotonic + left)


def _unsafe(pod: Pod, cluster: Cluster, now: Instant) -> Iterator[Obstacle]:
    if pod.metadata.controller is None:
        yield Obstacle(pod.name, "it has no controller to recreate it", None)
    if volume := _local_volume(pod):
        yield Obstacle(pod.name, f"its volume {volume} is local to the node", None)
    if pod.metadata.namespace == SYSTEM and not budgets.of_pod(pod, counting(pod, cluster)):
        why = f"it is new in {SYSTEM} and has no PodDisruptionBudget"
        yield from _until(_start(pod), YOUTH, pod, why, now)


def _local_volume(pod: Pod) -> str:
    """The name of a volume whose data is lost when the pod leaves its node; "" if there is none."""
    named = pod.metadata.annotations.get(SAFE_VOLUMES, "").split(",")
    for name, kind, source in sources(pod.spec.volumes):
        # The Cluster Autoscaler doesn't count an emptyDir in memory as local data, either.
        is_local = kind == "hostPath" or (kind == "emptyDir" and source.medium != "Memory")
        if is_local and name not in named:
            return name
    return ""


def counting(pod: Pod, cluster: Cluster) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that may cover a pod: few of those in its namespace."""
    known = cluster.remembered(
        "budgets by label", lambda: budgets.by_label(cluster.budgets.values())
    )
    return budgets.budgets_to_check(pod, known)
