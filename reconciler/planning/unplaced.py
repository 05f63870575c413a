"""What a pool's status says about planning: pods without a place, and machines bought in vain.

The entries are computed from the planning ledger alone, and the same ledger gives the same entries
at any later time. Times are whole seconds of the wall clock, so that a status without news is not
written again.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.meta import PodReference
from growth.api.nodepool_status import UnplacedPod, UnservedShape
from growth.demand.pools import pools_of
from growth.instant import whole_second

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger
    from reconciler.planning.tries import Try

# The maxima that the definition of NodePool allows.
MOST_PODS: Final = 50
MOST_SHAPES: Final = 100
LONGEST_REASON: Final = 1024
LONGEST_OWNER: Final = 253


class Lacking(msgspec.Struct, frozen=True, kw_only=True):
    """The pods that one pool can't serve, as in its status."""

    pool: str
    unplaced: tuple[UnplacedPod, ...] = ()
    unserved: tuple[UnservedShape, ...] = ()


def unplaced_by_pool(world: World, ledger: PlanningLedger, now: Instant) -> tuple[Lacking, ...]:
    """One entry for each pool, in the order of their names; empty if all its pods have a place.

    A pod is listed by each pool that it may use. A pod that may use none only has its event.
    """
    pools = _Pools(world)
    without = _without_place(world, ledger)
    left: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in without:
        for name in pools.of(pod):
            left[name].append(pod)
    shapes = _unserved(world, ledger, pools, now)
    before = {
        name: {each.pod.uid: each for each in pool.status.unplaced}
        for name, pool in world.pools.items()
    }
    return tuple(
        Lacking(
            pool=name,
            unplaced=tuple(
                _entry(pod, ledger.tries[pod.metadata.uid], now, before[name].get(pod.metadata.uid))
                for pod in heapq.nsmallest(MOST_PODS, left[name], key=_urgency)
            ),
            unserved=tuple(shapes[name][:MOST_SHAPES]),
        )
        for name in sorted(world.pools)
    )


class _Pools:
    """Which pools a pod may use, asked once for each shape."""

    def __init__(self, world: World) -> None:
        self._names = tuple(world.pools)
        self._known: dict[Shape, frozenset[str]] = {}

    def of(self, pod: Pod) -> frozenset[str]:
        """The pools that the pod may use."""
        if pod.shape not in self._known:
            self._known[pod.shape] = pools_of(pod, self._names)
        return self._known[pod.shape]


def _without_place(world: World, ledger: PlanningLedger) -> Iterator[Pod]:
    """Pods that the last plan they took part in had no place for, and that still wait."""
    for uid, one in ledger.tries.items():
        pod = world.pending.get(uid)
        is_placed = uid in ledger.nominated.places
        if one.count and pod is not None and not is_placed and world.demand.is_demand(uid):
            yield pod


def _urgency(pod: Pod) -> tuple[int, str, str, str]:
    metadata = pod.metadata
    # The status lists fifty of them at most, so the important ones come first.
    return -pod.spec.priority, metadata.namespace, metadata.name, metadata.uid


def _entry(pod: Pod, one: Try, now: Instant, before: UnplacedPod | None) -> UnplacedPod:
    metadata = pod.metadata
    is_over = one.rests and not one.looks_at_others
    return UnplacedPod.renewed(
        before,
        pod=PodReference.renewed(
            None if before is None else before.pod,
            namespace=metadata.namespace,
            name=metadata.name,
            uid=metadata.uid,
        ),
        reason=one.reason[:LONGEST_REASON],
        tries=one.count,
        next_try=None if is_over else _moment(one.next_at, now),
    )


def _unserved(
    world: World, ledger: PlanningLedger, pools: _Pools, now: Instant
) -> Mapping[str, list[UnservedShape]]:
    """The offers bought in vain, by pool. Shapes that no pending pod has are left out."""
    sellers: defaultdict[str, set[str]] = defaultdict(set)
    for item in ledger.shelf.items:
        sellers[item.offering.name].add(item.pool.name)
    pods = _one_of_each(world.pending.values(), {shape for shape, _ in ledger.nominated.unserved})
    found: defaultdict[str, list[UnservedShape]] = defaultdict(list)
    for (shape, offering), until in sorted(ledger.nominated.unserved.items()):
        if shape not in pods or until <= now.monotonic:
            continue
        entry = UnservedShape(
            owner=_owner(pods[shape]), shape=shape, offering=offering, until=_moment(until, now)
        )
        for name in sellers[offering] & pools.of(pods[shape]):
            found[name].append(entry)
    return found


def _one_of_each(pods: Iterable[Pod], shapes: set[Shape]) -> Mapping[Shape, Pod]:
    """The first pod of each shape by name, so that the result doesn't depend on an order."""
    found: dict[Shape, Pod] = {}
    if not shapes:
        return found
    for pod in pods:
        if pod.shape in shapes and (pod.shape not in found or pod.name < found[pod.shape].name):
            found[pod.shape] = pod
    return found


def _owner(pod: Pod) -> str:
    """The pod's controller; a pod without one is its own owner."""
    metadata, controller = pod.metadata, pod.metadata.controller
    kind, name = (
        ("Pod", metadata.name) if controller is None else (controller.kind, controller.name)
    )
    return f"{kind}/{metadata.namespace}/{name}"[:LONGEST_OWNER]


def _moment(at: float, now: Instant) -> datetime:
    """A monotonic second on the wall clock."""
    return whole_second(now.ahead(at - now.monotonic))
