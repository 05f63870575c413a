"""Pods that fit on a marked node get a place there at once, without waiting for a plan.

A marked node exists and costs nothing extra, so a pod that fits on it needs neither the end of its
wave nor the solver. It gets its place in the pass that first sees it, and the mark is removed in
the next one. Large pods choose first, each the node with the least room left, so that as few nodes
as possible come back. The rest of the wave is planned as usual, on top of these places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling.fits import verdict
from growth.scheduling.resources import CPU, MEMORY
from growth.scheduling.verdicts import Fits
from reconciler.facts.marks import reusable
from reconciler.planning.capacity import ground
from reconciler.planning.nominations import Nomination

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.resources import Resources
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.planning.nominations import Nominated

MOST: Final = 100
"""Pods in one pass: more pods than this are left to a plan."""


def taken_back(
    waiting: Mapping[str, Pod],
    world: World,
    requests: Mapping[str, NodeRequest],
    nominated: Nominated,
    shelf: Iterable[Purchasable],
    now: Instant,
) -> Mapping[str, Nomination]:
    """The places, by uid, of pods that fit on marked nodes."""
    if not 0 < len(waiting) <= MOST:
        return {}
    names = reusable(world).keys()
    if not names:
        return {}
    here = ground(world, requests, nominated, shelf, only=names)
    rooms = {spot.name: spot.room for spot in here.spots}
    places = _Places(here.cluster, rooms, nominated).of(waiting)
    return {
        uid: Nomination(
            machine=name, shape=waiting[uid].shape, is_bought_for=False, since=now.monotonic
        )
        for uid, name in places
    }


class _Places:
    """One pod after the other, each as far as the others have left room."""

    def __init__(self, cluster: Cluster, rooms: dict[str, Resources], nominated: Nominated) -> None:
        self._cluster = cluster
        self._rooms = rooms
        self._nominated = nominated

    def of(self, waiting: Mapping[str, Pod]) -> Iterator[tuple[str, str]]:
        """The node of each pod that finds one, by UID."""
        order = sorted(waiting.items(), key=lambda each: (_size(each[1].requests), each[0]))
        for uid, pod in reversed(order):
            found = next(
                (node for node in self._fullest_first(pod) if self._suits(pod, node)), None
            )
            if found is not None:
                self._take(pod, found)
                yield uid, found.name

    def _fullest_first(self, pod: Pod) -> list[Node]:
        """The nodes that are large enough, with the least room first."""
        enough = [name for name, room in self._rooms.items() if room.covers(pod.requests)]
        enough.sort(key=lambda name: (_size(self._rooms[name]), name))
        return [self._cluster.nodes[name] for name in enough]

    def _suits(self, pod: Pod, node: Node) -> bool:
        is_declined = (node.name, pod.shape) in self._nominated.declined
        return not is_declined and isinstance(verdict(pod, node, self._cluster), Fits)

    def _take(self, pod: Pod, node: Node) -> None:
        # Rules between pods have to see this pod on its node, too, when the next one is judged.
        self._rooms[node.name] -= pod.requests
        held = {node.name: self._cluster.occupancy(node.name).having(pod)}
        occupancies = {**self._cluster.occupancies, **held}
        self._cluster = msgspec.structs.replace(self._cluster, occupancies=occupancies)


def _size(amounts: Resources) -> tuple[int, int]:
    return amounts[CPU], amounts[MEMORY]
