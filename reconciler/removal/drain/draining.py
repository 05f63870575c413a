"""The drain of a node: its pods are moved away before its machine is given back.

    begins     the node is cordoned, with growth's mark
    goes on    its pods are evicted with their grace period, those with the lowest priority first;
               the next priority waits until they are gone. Pods that come later are evicted too
    stuck      pods that block the drain for a while are named in an event
    detaches   volumes get some time to detach: if the node were deleted first, Kubernetes would
               take minutes to detach them, and the pods would wait
    confirms   the kubelet deletes the pods that have ended. If the node were deleted first, they
               would stay for a minute, and a StatefulSet would wait as long with the next one
    ends       only pods that go with their node are left
    given up   the node stays as it was, because a person intervened, or, if it goes for cost or
               drift only, because a pod may not be moved or doesn't go in time

The drain of a sick node or of a deleted pool is never given up because of pods, and neither is that
of a drifted node if the pool says how long a drain may take: then pods that are left are ended
(ending.py). It needs no memory: the removal's own history records when it began and what was
reported.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final

from growth.keeping.wanting import KeepingReason, kept_by_hand
from growth.scheduling.emptiness import (
    goes_with_its_node,
    is_overdue,
    left_on,
    seconds_until_overdue,
)
from growth.scheduling.moving import reluctance
from reconciler.core.decision import earliest
from reconciler.core.step import Step
from reconciler.facts.cordons import bears_our_cordon, cordoned
from reconciler.removal.drain import history as drain_history
from reconciler.removal.drain.ending import grace_left, seconds_left, seconds_until_ended
from reconciler.removal.drain.evicting import holding_budget
from reconciler.removal.drain.returning import seconds_left_alone

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.moving import Obstacle
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

DETACHED_WITHIN: Final = 60.0
"""Seconds; it takes a few."""


class Draining(Step, frozen=True, kw_only=True):
    """A step with a node that is drained."""

    pods: tuple[Pod, ...] = ()
    """The pods to evict next."""
    ending: Mapping[str, int] = {}
    """Of these, the pods that end even if their budgets refuse: the seconds they have, by uid."""


def drain_objection(removal: NodeRemovalRequest, node: Node, world: World, now: Instant) -> str:
    """Why the node stays after all, as a short text; empty if it is drained."""
    # The provider has been asked: the machine may end at any moment, so nothing can be given up.
    if removal.status.remove_attempted_at is not None:
        return ""
    kept = kept_by_hand(node)
    if kept is not None and kept.reason is KeepingReason.CORDONED:
        return kept.why
    if not removal.spec.reason.meaning.is_optional:
        return ""
    if bears_our_cordon(node) and not node.spec.unschedulable:
        return "a person has uncordoned it"
    if kept is not None:
        return kept.why
    return next(_unwilling(removal, pods_to_drain(node, world, now), world, now), "")


def _unwilling(
    removal: NodeRemovalRequest, pods: Iterable[Pod], world: World, now: Instant
) -> Iterator[str]:
    if isfinite(seconds_left(removal, world, now)):
        return
    pods = tuple(pods)
    for pod in pods:
        found = None if pod.is_terminating else reluctance(pod, world.cluster, now)
        if found is not None:
            yield f"pod {found.pod} may not be moved: {found.why}"
    if drain_history.waited(removal, now) >= world.timing.drain_wait:
        stuck = _stuck(pods, removal, world, now)
        yield from (f"pod {name} didn't leave in time: {why}" for name, why in stuck)


def drain_step(
    removal: NodeRemovalRequest, node: Node, world: World, now: Instant
) -> Draining | None:
    """What must be done before the machine may be deleted; None if all is done."""
    told = drain_history.begun(removal, node, now)
    if not (node.spec.unschedulable and bears_our_cordon(node)):
        cordon = cordoned(node, removal.spec.reason)
        return Draining(actions=(cordon, *told), why="its pods are moved away")
    if told:
        return Draining(actions=told, why="its pods are moved away")
    pods = pods_to_drain(node, world, now)
    if pods:
        return _going_on(removal, node, pods, world, now)
    return _confirming(removal, node, world, now) or _detaching(removal, node, world, now)


def pods_to_drain(node: Node, world: World, now: Instant) -> tuple[Pod, ...]:
    """The pods that have to be gone first."""
    kept = world.cluster.occupancy(node.name).keepers
    # An occupancy also counts pods that the scheduler has nominated to the node. They aren't there
    # yet, and can't be evicted.
    there = (pod for pod in kept if pod.spec.node_name == node.name)
    return left_on(there, now, node_is_ready=node.is_ready)


def _going_on(
    removal: NodeRemovalRequest, node: Node, pods: tuple[Pod, ...], world: World, now: Instant
) -> Draining:
    left = seconds_left(removal, world, now)
    until = {pod.metadata.uid: seconds_until_ended(pod, left, now) for pod in pods}
    # Where the drain may take as long as it wants, such a pod has ended it already.
    held = _held(removal, pods, world, now) if isfinite(left) else {}
    turn = _turn(pods, held)
    # While the next report must wait, the reasons aren't worked out: a drain is looked at in each
    # pass.
    waits = tuple(drain_history.waits(removal, now))
    named = {} if waits else dict(_stuck(turn, removal, world, now))
    stuck = named if waits else named | {each.pod: each.why for each in held.values()}
    left_alone = {pod.metadata.uid: seconds_left_alone(pod, removal, now) for pod in pods}
    ends = (
        *left_alone.values(),
        *until.values(),
        *(seconds_until_overdue(pod, now) for pod in turn if pod.is_terminating),
        *(each.passes_at - now.monotonic for each in held.values() if each.passes_at is not None),
        *waits,
        world.timing.drain_wait - drain_history.waited(removal, now),
    )
    ending = tuple(
        pod for pod in pods if until[pod.metadata.uid] <= 0 and left_alone[pod.metadata.uid] <= 0
    )
    due = (pod for pod in turn if _is_due(pod, now, left_alone[pod.metadata.uid]))
    return Draining(
        actions=drain_history.stuck(removal, node, stuck, now),
        why="pods are still on the node",
        wake_at=earliest(now.monotonic + end for end in ends if end > 0),
        pods=tuple({pod.metadata.uid: pod for pod in (*due, *ending)}.values()),
        ending={pod.metadata.uid: grace_left(pod, left) for pod in ending},
    )


def _held(
    removal: NodeRemovalRequest, pods: Iterable[Pod], world: World, now: Instant
) -> Mapping[str, Obstacle]:
    """The pods that may not be moved, by uid: they stay until the time of the drain is up."""
    if not removal.spec.reason.meaning.is_optional:
        return {}
    found = (
        (pod.metadata.uid, reluctance(pod, world.cluster, now))
        for pod in pods
        if not pod.is_terminating
    )
    return {uid: obstacle for uid, obstacle in found if obstacle is not None}


def _turn(pods: tuple[Pod, ...], held: Container[str]) -> tuple[Pod, ...]:
    """The pods of the lowest priority, of those that may be moved."""
    movable = [pod for pod in pods if pod.metadata.uid not in held]
    lowest = min((pod.spec.priority for pod in movable), default=0)
    return tuple(pod for pod in movable if pod.spec.priority == lowest)


def _is_due(pod: Pod, now: Instant, left_alone: float) -> bool:
    """An overdue pod is evicted again: the API server may have missed that it ended."""
    return is_overdue(pod, now) if pod.is_terminating else left_alone <= 0


def _confirming(
    removal: NodeRemovalRequest, node: Node, world: World, now: Instant
) -> Draining | None:
    """Waits until the kubelet has deleted pods that have ended, unless the node is silent."""
    if not node.is_ready or removal.status.remove_attempted_at is not None:
        return None
    # Something else may keep such a pod, so the wait has an end.
    ending = world.cluster.occupancy(node.name).ending
    ends = [seconds_until_overdue(pod, now) for pod in ending if not goes_with_its_node(pod)]
    left = [end for end in ends if end > 0]
    if not left:
        return None
    wake_at = earliest(now.monotonic + end for end in left)
    return Draining(why="pods that have ended are being deleted", wake_at=wake_at)


def _detaching(
    removal: NodeRemovalRequest, node: Node, world: World, now: Instant
) -> Draining | None:
    """Waits a while for volumes to detach, unless the node is silent.

    The wait has an end, because the volumes that are left may belong to a DaemonSet.
    """
    is_attached = node.name in world.cluster.attachments_by_node
    if not is_attached or not node.is_ready or removal.status.remove_attempted_at is not None:
        return None
    told = drain_history.emptied(removal, now)
    left = min(
        DETACHED_WITHIN - drain_history.empty_for(removal, now), seconds_left(removal, world, now)
    )
    if not told and left <= 0:
        return None
    return Draining(actions=told, why="volumes are being detached", wake_at=now.monotonic + left)


def _stuck(
    pods: Iterable[Pod], removal: NodeRemovalRequest, world: World, now: Instant
) -> Iterator[tuple[str, str]]:
    """The pods that don't go, by name, and why."""
    for pod in sorted(pods, key=lambda pod: pod.name):
        if is_overdue(pod, now):
            yield pod.name, "its grace period is long over, but its kubelet doesn't confirm its end"
        elif seconds_left_alone(pod, removal, now) > 0:
            yield pod.name, "it came back because it tolerates the cordon"
        elif not pod.is_terminating:
            said = world.evictions.get(pod.metadata.uid)
            refused = said.refused if said is not None else ""
            yield pod.name, holding_budget(pod, world) or refused or "it waits for its turn"
