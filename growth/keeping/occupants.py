"""Why a node is kept because of its pods.

A pod that may not be moved is the first reason. Checking all pods of a cluster is expensive. So an
answer is reused until something that it depends on changes: the node's pods, or whether their
budgets allow a disruption. A caller may ask about some of the pods now and about the others next
time: a new leader has no answers, and everything else waits meanwhile. Of equal pods, the first by
name is the reason, so that all callers get the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.keeping.wanting import Keeping, KeepingReason, occupied
from growth.scheduling.budgets import PodDisruptionBudget, by_label, is_covered
from growth.scheduling.moving import obstacle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from growth.instant import Instant
    from growth.scheduling.budgets import BudgetsByLabel
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

    @property
    def held(self) -> Keeping | None:
        """Why a pod on the node may not be moved; None if all of them may."""
        kept = self.keeping
        return kept if kept is not None and kept.reason is KeepingReason.HELD else None


class Occupants(msgspec.Struct, frozen=True, kw_only=True):
    """The answers at one moment, to be reused later."""

    budgets: Mapping[tuple[str, str], PodDisruptionBudget] = {}
    answers: Mapping[str, OccupantsAnswer] = {}


NO_OCCUPANTS: Final = Occupants()


def occupants(
    names: Iterable[str],
    cluster: Cluster,
    now: Instant,
    *,
    before: Occupants = NO_OCCUPANTS,
    most: float = inf,
) -> Occupants:
    """The answers for these nodes; previous ones that still hold are reused.

    After `most` pods were asked about, nodes without an answer are left out.
    """
    changed = by_label(_changed(before.budgets, cluster.budgets))
    answers: dict[str, OccupantsAnswer] = {}
    for name in names:
        occupancy, known = cluster.occupancy(name), before.answers.get(name)
        # The cluster keeps the object as long as the pods of the node are the same.
        is_known = known is not None and known.occupancy is occupancy
        if known is None or not is_known or not _holds(known, changed, now):
            if most <= 0:
                continue
            known = _answer(occupancy, cluster, now)
            most -= len(occupancy.pods)
        answers[name] = known
    return Occupants(budgets=cluster.budgets, answers=answers)


def still_true(before: Occupants, cluster: Cluster, now: Instant) -> Mapping[str, OccupantsAnswer]:
    """Those of the previous answers that still hold; no pod is asked about."""
    return occupants(before.answers, cluster, now, before=before, most=0).answers


def _holds(known: OccupantsAnswer, changed: BudgetsByLabel, now: Instant) -> bool:
    if known.ends_at is not None and known.ends_at <= now.wall:
        return False
    if not changed:
        return True
    # A namespace may have most pods of the cluster, and each of its budgets covers few of them.
    return not any(is_covered(pod, changed) for pod in known.occupancy.pods)


def _changed(
    before: Mapping[NamespacedName, PodDisruptionBudget],
    after: Mapping[NamespacedName, PodDisruptionBudget],
) -> Iterator[PodDisruptionBudget]:
    """The budgets that have changed in a way that matters, as they were and as they are."""
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if not _say_the_same(old, new):
            yield from (each for each in (old, new) if each is not None)


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
    return _answer(cluster.occupancy(node.name), cluster, now).held


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
