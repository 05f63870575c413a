"""Which pods still need a place, and which of them take part in the next plan."""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from growth.api.nodepool import NodePool
from growth.demand import detection
from growth.demand.pools import UsablePools, match_pools, why_unreadable, wish_of
from growth.foreign_text import time_or_none
from growth.scheduling.owners import Owner, workload_of
from reconciler.facts.sizes import size_of_pool
from reconciler.planning.commit import Missing
from reconciler.planning.tries import PodTries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.core.world import World
    from reconciler.planning.nominations import Nominated
    from reconciler.planning.tries import Try


MAKING = 30.0
"""Seconds after its last change for which an owner that lacks pods is believed to create them: on
a busy control plane it can take that long."""
SEEN = frozenset({"pods", "replica_sets", "deployments"})
"""Sources that have to be up to date to know which pods are missing."""
NEW = 2.0
"""Seconds for which a pod that the scheduler hasn't judged counts as just created. Times of the API
server are whole seconds; if its clock and this one differ by more, no pod counts as new."""


_BY_NAME = attrgetter("metadata.namespace", "metadata.name", "metadata.uid")


def wanting(world: World) -> dict[str, Pod]:
    """All demand, by uid, in a stable order."""
    found = (pod for uid, pod in world.pending.items() if world.demand.is_demand(uid))
    # A cache holds pods in the order in which events came, which isn't the same after a restart.
    ordered = sorted(found, key=_BY_NAME)
    closed = _pools_without_demand(world)
    return {pod.metadata.uid: pod for pod in ordered if not _is_all_closed(pod, world, closed)}


def _pools_without_demand(world: World) -> frozenset[str]:
    """Pools for which no pod buys: their scaling policy counts by itself, or they only observe."""
    return frozenset(
        name
        for name, pool in world.pools.items()
        # Another autoscaler serves the pods of a pool that only observes: no event may say that
        # they have no place.
        if world.only_observes(name) or not size_of_pool(pool, world).serves_demand
    )


def _is_all_closed(pod: Pod, world: World, closed: frozenset[str]) -> bool:
    """Whether all pools that a pod may use are closed to demand; usually none is."""
    if not closed:
        return False
    verdict = match_pools(wish_of(pod), world.pools)
    return isinstance(verdict, UsablePools) and verdict.names <= closed


def without_place(demand: Mapping[str, Pod], nominated: Nominated) -> dict[str, Pod]:
    """The pods without a nomination."""
    return {uid: pod for uid, pod in demand.items() if uid not in nominated.places}


def to_be_planned(
    waiting: Mapping[str, Pod], tries: Mapping[str, Try], now: float
) -> dict[str, Pod]:
    """The pods that take part in a plan that is made now."""
    return {
        uid: pod
        for uid, pod in waiting.items()
        if uid not in tries or tries[uid].standing(now) is PodTries.NORMAL
    }


def is_any_to_be_planned(world: World, now: float) -> bool:
    """Whether demand without a place would take part in a plan that is made now."""
    places, tries = world.ledger.planning.nominated.places, world.ledger.planning.tries
    closed = _pools_without_demand(world)
    return any(
        uid not in places
        and (uid not in tries or tries[uid].standing(now) is PodTries.NORMAL)
        and world.demand.is_demand(uid)
        and not _is_all_closed(pod, world, closed)
        for uid, pod in world.pending.items()
    )


def pools_by_pod(
    pods: Mapping[str, Pod], world: World
) -> tuple[dict[str, frozenset[str]], dict[str, str]]:
    """The pools of each pod; and, for those that find none, why."""
    broken = [each.key.name for each in world.unreadable.get(NodePool.__name__, ())]
    closed = _pools_without_demand(world)
    found: dict[str, frozenset[str]] = {}
    missing: dict[str, str] = {}
    for uid, pod in pods.items():
        wish = wish_of(pod)
        verdict = match_pools(wish, world.pools)
        if isinstance(verdict, UsablePools):
            found[uid] = verdict.names - closed
        else:
            missing[uid] = why_unreadable(wish, broken) or verdict.text
    return found, missing


class ComingPods(NamedTuple):
    """Pods that are being made right now."""

    like: Pod
    number: int
    pools: frozenset[str]

    @property
    def workload(self) -> Owner:
        """The owners of the pods."""
        return workload_of(self.like)


def announced(world: World, nominated: Nominated, now: Instant) -> tuple[ComingPods, ...]:
    """Pods that will be demand in a moment: not created yet, or not yet seen by the scheduler.

    An owner that has created nothing for a while doesn't count, as something may prevent it for
    ever. Without a current cache no pod counts as announced, because it may exist already.
    """
    if not is_seeing(world):
        return ()
    found = {
        uid: (each.like, each.missing)
        for uid, each in sorted(world.announced.items())
        if _was_made_within(MAKING, each.since, now)
    }
    found |= _before_their_first_look(world, nominated, now)
    pools, _ = pools_by_pod({uid: like for uid, (like, _) in found.items()}, world)
    return tuple(
        ComingPods(like, number, pools[uid])
        for uid, (like, number) in found.items()
        if uid in pools
    )


def is_seeing(world: World) -> bool:
    """Whether the caches of pods and owners are current, so that missing pods are known."""
    return all(world.sources[name].blind_since is None for name in SEEN & world.sources.keys())


def _before_their_first_look(
    world: World, nominated: Nominated, now: Instant
) -> dict[str, tuple[Pod, int]]:
    """Pods that were just created and not yet judged: one of each kind, and how many."""
    alike: defaultdict[tuple[Shape, Owner], list[Pod]] = defaultdict(list)
    for uid, pod in sorted(world.pending.items()):
        # Between its creation and the scheduler's first look a pod is neither demand nor missing
        # from its owner. Plans that didn't see such pods bought small machines for a part of the
        # burst.
        is_known = uid in world.demand.entries or uid in nominated.places
        if not is_known and _is_unreached(pod, now):
            alike[pod.shape, workload_of(pod)].append(pod)
    return {pods[0].metadata.uid: (pods[0], len(pods)) for pods in alike.values()}


def _is_unreached(pod: Pod, now: Instant) -> bool:
    made = pod.metadata.creation_timestamp
    return detection.standing(pod) is detection.PodProgress.UNREACHED and _was_made_within(
        MAKING, made, now
    )


def unjudged(waiting: Mapping[str, Pod], world: World, now: Instant) -> Missing:
    """Which pods of this wave the scheduler hasn't judged yet."""
    waiting_for_a_look = [
        pod
        for pod in world.pending.values()
        if not pod.status.conditions and not pod.is_terminating
    ]
    if any(_is_new(pod, now) for pod in waiting_for_a_look):
        return Missing.NEWCOMERS
    owners = {controller.uid for pod in waiting.values() if (controller := pod.metadata.controller)}
    found = (pod.metadata.controller for pod in waiting_for_a_look)
    is_sibling = any(controller is not None and controller.uid in owners for controller in found)
    return Missing.SIBLINGS if is_sibling else Missing.NONE


def _is_new(pod: Pod, now: Instant) -> bool:
    """Whether it was just created; without this limit, a pod without a scheduler would block."""
    return _was_made_within(NEW, pod.metadata.creation_timestamp, now)


def _was_made_within(seconds: float, created: str | None, now: Instant) -> bool:
    # The API server's clock may be ahead of this one.
    made_at = time_or_none(created)
    return made_at is not None and abs(now.seconds_since(made_at)) < seconds
