"""Which pods are evicted now, of those whose turn it is.

An eviction that a budget would refuse isn't tried: when another pod of the budget becomes ready,
the budget changes and wakes the loop. Evictions that a budget's status doesn't show yet are counted
here. A refused eviction is retried after a pause that grows each time, for each pod separately.
Where the time of a drain is up, budgets no longer hold its pods.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final

from growth.scheduling import budgets
from growth.scheduling.moving import counting
from reconciler.core.actions import Evict, Sequence, pod_subject
from reconciler.core.decision import NEVER

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from growth.instant import Instant
    from growth.scheduling.cluster import NamespacedName
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

MOST_AT_ONCE: Final = 100
"""The most evictions under way at a time, whatever the size of a pool."""
LONGEST_REST: Final = 10.0
"""Seconds; the first pause takes one second, and each further one doubles it."""
NOTHING_ENDS: Final[Mapping[str, int]] = {}
"""No drain has reached the end of its time."""
MOST_DOUBLED: Final = 10
"""The most doublings: more than the longest pause needs, and few enough not to overflow."""


def evictions(
    pods: Iterable[Pod], world: World, now: Instant, *, ending: Mapping[str, int] = NOTHING_ENDS
) -> tuple[tuple[Sequence, ...], float]:
    """The evictions to try now, and when the next pause ends.

    Pods in `ending` go even if their budgets refuse: they have so many seconds.
    """
    waiting = sorted(pods, key=lambda pod: (pod.name, pod.metadata.uid))
    asked = {pod.metadata.uid for pod in waiting if not world.is_free(pod_subject(pod))}
    taken = Counter(
        each
        for pod in waiting
        if pod.metadata.uid in asked or _is_going(pod, world)
        for each in _budgets(pod, world)
    )
    rests = {pod.metadata.uid: rests_until(pod, world) for pod in waiting}
    due = (
        pod
        for pod in waiting
        if pod.metadata.uid not in asked and rests[pod.metadata.uid] <= now.monotonic
    )
    # The nodes of a deleted pool are drained all at once: with a thousand of them the API server
    # would get thirty thousand calls in one moment, and growth's other calls would wait behind
    # them.
    going = islice(_allowed(due, world, taken, ending), max(MOST_AT_ONCE - len(asked), 0))
    found = tuple(_eviction(pod, ending.get(pod.metadata.uid)) for pod in going)
    return found, min((end for end in rests.values() if end > now.monotonic), default=NEVER)


def _allowed(
    pods: Iterable[Pod],
    world: World,
    taken: Counter[NamespacedName],
    ending: Container[str],
) -> Iterator[Pod]:
    """Pods that their budgets allow to go, counted one after the other, and those already going."""
    for pod in pods:
        if pod.is_terminating or _is_going(pod, world):
            yield pod
            continue
        allowed = _budgets(pod, world)
        if pod.metadata.uid in ending:
            taken.update(allowed.keys())
            yield pod
            continue
        if not holding_budget(pod, world) and all(
            taken[name] < most for name, most in allowed.items()
        ):
            taken.update(allowed.keys())
            yield pod


def holding_budget(pod: Pod, world: World) -> str:
    """Why a budget doesn't allow the eviction, as a short text; empty if none forbids it."""
    return budgets.budget_objection(pod, counting(pod, world.cluster)) or ""


def rests_until(pod: Pod, world: World) -> float:
    """When an eviction of the pod may be tried again, in monotonic seconds."""
    said = world.evictions.get(pod.metadata.uid)
    if said is None:
        return 0.0
    if pod.is_terminating:
        return said.at + LONGEST_REST
    if not said.refused:
        # It goes. If the cache doesn't show that soon, the answer was about an earlier pod.
        return said.at + world.timing.retry
    return said.at + max(said.seconds, min(2.0 ** min(said.times - 1, MOST_DOUBLED), LONGEST_REST))


def _is_going(pod: Pod, world: World) -> bool:
    """Whether it was evicted but the cache doesn't show it terminating yet."""
    said = world.evictions.get(pod.metadata.uid)
    return said is not None and not said.refused


def _budgets(pod: Pod, world: World) -> Mapping[NamespacedName, int]:
    """What the pod's budgets allow; budgets don't count pods that aren't ready."""
    is_counted = pod.is_ready and not pod.is_terminating
    found = budgets.of_pod(pod, counting(pod, world.cluster)) if is_counted else ()
    return {(each.metadata.namespace, each.metadata.name): each.allowed for each in found}


def _eviction(pod: Pod, ends_within: int | None) -> Sequence:
    step = Evict(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        ends_within=ends_within,
    )
    is_drained = f"its node {pod.spec.node_name} is drained"
    why = f"evicted: {is_drained}"
    if ends_within is not None:
        why = f"ended in {ends_within} s: {is_drained}, and the time for it is up"
    return Sequence(subject=pod_subject(pod), steps=(step,), why=why)
