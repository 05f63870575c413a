"""Why a node is kept because of its pods.

A pod that may not be moved is the first reason. Checking all pods of a cluster is expensive. So an
answer is reused until something that it depends on changes: the node's pods, or whether their
budgets allow a disruption. Of equal pods, the first by name is the reason, so that all callers get
the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.keeping.wanting import Keeping, KeepingReason, occupied
from growth.scheduling.budgets import PodDisruptionBudget
from growth.scheduling.moving import obstacle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from growth.instant import Instant
    from growth.scheduling.cluster import Cluster, NamespacedName
    from growth.scheduling.moving import Obstacle
    from growth.scheduling.node import Node
    from growth.scheduling.occupancy import Occupancy
    from growth.scheduling.pod import Pod


class OccupantsAnswer(NamedTuple):
    """Why one node is kept because of its pods, and what the answer depends on."""

    occupancy: Occupancy
    keeping: Keeping | None
    """None if no pod keeps the node."""
    ends_at: datetime | None
    """When the answer expires, even if nothing changes."""


class Occupants(msgspec.Struct, frozen=True, kw_only=True):
    """The answers at one moment, to be reused later."""

    budgets: Mapping[tuple[str, str], PodDisruptionBudget] = {}
    answers: Mapping[str, OccupantsAnswer] = {}


NO_OCCUPANTS: Final = Occupants()


def occupants(
    names: Iterable[str], cluster: Cluster, now: Instant, *, before: Occupants = NO_OCCUPANTS
) -> Occupants:
    """The answers for these nodes; previous ones that still hold are reused."""
    changed = _changed(before.budgets, cluster.budgets)
    answers: dict[str, OccupantsAnswer] = {}
    for name in names:
        occupancy, known = cluster.occupancy(name), before.answers.get(name)
        # The cluster keeps the object as long as the pods of the node are the same.
        is_known = known is not None and known.occupancy is occupancy
        if known is None or not is_known or not _holds(known, changed, now):
            known = _answer(occupancy, cluster, now)
        answers[name] = known
    return Occupants(budgets=cluster.budgets, answers=answers)


def _holds(known: OccupantsAnswer, changed: frozenset[str], now: Instant) -> bool:
    is_over = known.ends_at is not None and known.ends_at <= now.wall
    # A budget only selects pods of its own namespace.
    return not is_over and changed.isdisjoint(known.occupancy.by_namespace)


def _changed(
    before: Mapping[NamespacedName, PodDisruptionBudget],
    after: Mapping[NamespacedName, PodDisruptionBudget],
) -> frozenset[str]:
    """The namespaces whose budgets have changed in a way that matters."""
    keys = before.keys() | after.keys()
    return frozenset(key[0] for key in keys if not _say_the_same(before.get(key), after.get(key)))


def _say_the_same(one: PodDisruptionBudget | None, other: PodDisruptionBudget | None) -> bool:
    if one is other:
        return True
    if one is None or other is None or one.spec != other.spec:
        return False
    # The number of allowed disruptions changes with each pod. It only matters whether it is 0.
    are_equal = one.allowed == other.allowed and one.status == other.status
    return are_equal or min(one.allowed, other.allowed) > 0


def held_by_pods(node: Node, cluster: Cluster, now: Instant) -> Keeping | None:
    """Why a pod on the node may not be moved; None if all of them may."""
    kept = _answer(cluster.occupancy(node.name), cluster, now).keeping
    return kept if kept is not None and kept.reason is KeepingReason.HELD else None


def _answer(occupancy: Occupancy, cluster: Cluster, now: Instant) -> OccupantsAnswer:
    keepers = sorted(occupancy.keepers, key=_name)
    found = [each for pod in keepers if (each := obstacle(pod, cluster, now))]
    ends = [_end(each) for each in found]
    soonest = min(ends, default=inf)
    return OccupantsAnswer(
        occupancy=occupancy,
        keeping=_held(found, now) if found else _occupied(keepers),
        ends_at=_moment(soonest, now),
    )


def _occupied(keepers: Sequence[Pod]) -> Keeping | None:
    return occupied(keepers) if keepers else None


def _held(found: Iterable[Obstacle], now: Instant) -> Keeping:
    """The answer for the pod that may not be moved for the longest time."""
    longest = max(found, key=_end)
    return Keeping(
        reason=KeepingReason.HELD,
        why=f"{longest.pod} can't be evicted: {longest.why}",
        owner=f"Pod {longest.pod}",
        ends=_moment(_end(longest), now),
    )


def _moment(at: float, now: Instant) -> datetime | None:
    return now.ahead(at - now.monotonic) if isfinite(at) else None


def _end(obstacle: Obstacle) -> float:
    return inf if obstacle.passes_at is None else obstacle.passes_at


def _name(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name
