"""May a pod be moved, if it is only for the sake of cost or drift?

Whoever comes from another autoscaler has said so in its words, on pods and in habits, and must not
find out that growth doesn't read them. So the rules of both peers are kept, the stricter one where
they differ:

    says no     growth.dev/do-not-disrupt, karpenter.sh/do-not-disrupt: true, or for how long after
                the pod's start; safe-to-evict: false or on-completion
    comes back  it tolerates a cordon: the scheduler may send it to the same node again
    is alone    no controller: nothing would bring it back
    loses data  hostPath, or emptyDir on a disk, unless safe-to-evict-local-volumes names it
    is young    in kube-system, in no budget, and started within the last hour
    is counted  a budget allows no disruption now, or there are two of them

`safe-to-evict: true` answers for lonely pods, local data and young ones. A value of ours that can't
be read holds the pod, since somebody meant something by it; one of theirs means what it means
there: nothing.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.wellknown import DO_NOT_DISRUPT_ANNOTATION
from growth.api.written import Duration, parse_time
from growth.scheduling import budgets
from growth.scheduling.emptiness import keeps_its_node
from growth.scheduling.pod_volumes import sources
from growth.scheduling.taints import UNSCHEDULABLE, untolerated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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
"""After so long the Cluster Autoscaler moves pods of kube-system, too."""


class Obstacle(msgspec.Struct, frozen=True):
    """Why a pod may not be moved now."""

    pod: str
    """As namespace/name."""
    why: str
    """For people."""
    passes_at: float | None
    """The monotonic second at which it is over by itself; None if only a change helps."""


def obstacle(pod: Pod, cluster: Cluster, now: Instant) -> Obstacle | None:
    """Why a pod may not be moved for the sake of cost or drift; None if it may."""
    if not keeps_its_node(pod) or pod.is_terminating:
        return None
    found = reluctance(pod, cluster, now)
    if found is None and (why := budgets.budget_objection(pod, counting(pod, cluster))):
        found = Obstacle(pod.name, why, None)
    return found


def reluctance(pod: Pod, cluster: Cluster, now: Instant) -> Obstacle | None:
    """The same, whatever budgets say: those are the eviction API's to judge."""
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
        yield Obstacle(pod.name, "it tolerates a cordon and would come back", None)
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
    """When its kubelet began with it, else when it was made."""
    for text in (pod.status.start_time, pod.metadata.creation_timestamp):
        try:
            return parse_time(text or "")
        except ValueError:
            continue
    return None


def _until(
    start: datetime | None, lasting: timedelta, pod: Pod, why: str, now: Instant
) -> Iterator[Obstacle]:
    """Held for some time after a start; as long as that is unknown, it may be now."""
    left = lasting.total_seconds() - (0.0 if start is None else now.seconds_since(start))
    if left > 0:
        yield Obstacle(pod.name, why, now.monotonic + left)


def _unsafe(pod: Pod, cluster: Cluster, now: Instant) -> Iterator[Obstacle]:
    if pod.metadata.controller is None:
        yield Obstacle(pod.name, "it has no controller that would bring it back", None)
    if volume := _local_volume(pod):
        yield Obstacle(pod.name, f"its volume {volume} lies on the node", None)
    if pod.metadata.namespace == SYSTEM and not budgets.of_pod(pod, counting(pod, cluster)):
        why = f"it is young, in {SYSTEM}, and in no budget"
        yield from _until(_start(pod), YOUTH, pod, why, now)


def _local_volume(pod: Pod) -> str:
    """The name of a volume whose contents end with the pod's stay on its node; empty if none."""
    named = pod.metadata.annotations.get(SAFE_VOLUMES, "").split(",")
    for name, kind, source in sources(pod.spec.volumes):
        is_local = kind == "hostPath" or (kind == "emptyDir" and source.medium != "Memory")
        if is_local and name not in named:
            return name
    return ""


def counting(pod: Pod, cluster: Cluster) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that may count a pod: those of its namespace."""

    def by_namespace() -> Mapping[str, tuple[PodDisruptionBudget, ...]]:
        found: dict[str, tuple[PodDisruptionBudget, ...]] = {}
        for (namespace, _), budget in sorted(cluster.budgets.items()):
            found[namespace] = (*found.get(namespace, ()), budget)
        return found

    known = cluster.remembered("budgets by namespace", by_namespace)
    return known.get(pod.metadata.namespace, ())
