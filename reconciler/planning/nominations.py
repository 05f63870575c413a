"""Nominations: the pods that have a place on a machine that was bought for them or has room.

A nominated pod stays demand until it is bound, but nothing more is bought for it. A nomination
lasts while its machine is on its way and for a while after the machine serves. It lasts longer
while the scheduler is busy binding other pods, and the wait stops while growth can't see pods. It
ends early if other pods took the room. If the pod isn't bound in that time, the scheduler doesn't
accept the place: that node isn't offered to pods of this shape until it changes, and its offering
isn't bought for them for a while.

After a restart this memory is rebuilt from the requests, which name the pods they were made for.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from growth.api.noderequest import COMING, NodeRequest, RequestPhase
from growth.scheduling.fits import verdict
from growth.scheduling.occupancy import Occupancy
from growth.scheduling.resources import total
from growth.scheduling.shape import Shape
from growth.scheduling.verdicts import Fits
from reconciler.core.decision import NEVER
from reconciler.facts.serving import serves_now
from reconciler.planning.followers import without_affinity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.resources import Resources
    from reconciler.core.world import World

ENOUGH = 2
"""Offers that served a shape in vain, until no other is tried: it isn't the offers' fault then."""
SETTLES = 1.0
"""Seconds without a binding after which the scheduler counts as done. A pod that took the room has
left room elsewhere, which a busy scheduler may still find for the pod that lost its place."""
PATIENCE = 4
"""Times `bindWait` for which a scheduler that is binding others is waited for."""
UNSERVED = 1800.0
"""Seconds for which an offer isn't bought again for pods that it didn't serve."""
WITNESSES = ("pods", "nodes")
"""Evidence that a pod is bound, and to which node."""


class Nomination(msgspec.Struct, frozen=True, kw_only=True):
    """One pod's place."""

    machine: str
    shape: Shape
    is_bought_for: bool
    """Whether the machine was bought for it; else it was found room on."""
    since: float = NEVER
    """Since when the pod could have been bound while no other pod was, in monotonic seconds."""
    first: float = NEVER
    """When it could have been bound at first."""


class Nominated(msgspec.Struct, frozen=True, kw_only=True):
    """The places of all pods, and what was learnt from places that the scheduler didn't use."""

    places: Mapping[str, Nomination] = {}
    """The nominations by the UID of the pod."""
    settled_at: float = NEVER
    """When a pod whose place was taken has waited long enough."""
    declined: Mapping[tuple[str, Shape], str] = {}
    """Nodes that the scheduler doesn't use for a shape, with the version that they had."""
    unserved: Mapping[tuple[Shape, str], float] = {}
    """Offers that came to nothing for a shape, and until when they aren't bought for it."""

    def is_in_vain(self, shape: Shape) -> Callable[[str], bool]:
        """Whether an offer isn't bought for a shape; after a few of them none is."""
        found = {offering for known, offering in self.unserved if known == shape}
        # A pod that fits on no node, though the rules say so, has made other autoscalers buy node
        # after node for it, for hours.
        return (lambda _: True) if len(found) >= ENOUGH else found.__contains__

    def with_places(self, places: Mapping[str, Nomination]) -> Nominated:
        """The same with more pods that have a place."""
        return msgspec.structs.replace(self, places={**self.places, **places})


def carried_on(
    before: Nominated, world: World, requests: Mapping[str, NodeRequest], now: Instant
) -> Nominated:
    """The nominations as they are now; `requests` includes those that no cache shows yet."""
    places = {**dict(_written(world, requests, now)), **before.places}
    kept: dict[str, Nomination] = {}
    ended: list[tuple[Nomination, Pod]] = []
    # A pod with a place isn't pending any more: it was bound since the last pass, or deleted.
    is_at_work = any(uid not in world.pending for uid in before.places)
    for uid, place in places.items():
        pod = world.pending.get(uid)
        if pod is None or pod.shape != place.shape:
            continue
        match _stage(place.machine, world, requests):
            case MachineStage.COMING:
                # Also if the node has served and fell silent: the wait starts over when it is back.
                kept[uid] = msgspec.structs.replace(place, since=NEVER, first=NEVER)
            case MachineStage.SERVING:
                held = _waiting(place, world, now, is_at_work=is_at_work)
                if held.since + world.timing.bind_wait > now.monotonic:
                    kept[uid] = held
                # A Ready request goes on naming its pods. Only a place that ends now tells
                # something, not one that ended long ago and was read from the request again.
                elif uid in before.places:
                    ended.append((place, pod))
            case MachineStage.GONE:
                continue
    crowded = {uid: kept[uid].since + SETTLES for uid in _crowded_out(kept, world)}
    for uid, at in crowded.items():
        if at <= now.monotonic:
            del kept[uid]
    vain = [(place, node) for place, pod in ended if (node := _vain(place, pod, world)) is not None]
    return Nominated(
        places=kept,
        settled_at=min((at for at in crowded.values() if at > now.monotonic), default=NEVER),
        declined={
            **_still_declined(before, world),
            **{(p.machine, p.shape): node.metadata.resource_version for p, node in vain},
        },
        unserved={
            **dict(_unserved_in_status(world, now)),
            **{key: until for key, until in before.unserved.items() if until > now.monotonic},
            **dict(_unserved((place for place, _ in vain), requests, now)),
        },
    )


def _is_blind(kind: str, world: World) -> bool:
    health = world.sources.get(kind)
    return health is not None and health.blind_since is not None


def _waiting(place: Nomination, world: World, now: Instant, *, is_at_work: bool) -> Nomination:
    """With the clocks of a place on a node that serves."""
    if any(_is_blind(kind, world) for kind in WITNESSES):
        # Without current caches, the pod may be bound by now.
        return msgspec.structs.replace(place, since=NEVER, first=NEVER)
    first = min(place.first, place.since, now.monotonic)
    has_time = first + PATIENCE * world.timing.bind_wait > now.monotonic
    since = now.monotonic if is_at_work and has_time else min(place.since, now.monotonic)
    return msgspec.structs.replace(place, since=since, first=first)


def next_nomination_end(nominated: Nominated, world: World) -> float:
    """When the next nomination ends, or an offer may be bought again, if nothing happens before."""
    waits = world.timing.bind_wait
    ends = (place.since + waits for place in nominated.places.values())
    return min((*ends, nominated.settled_at, *nominated.unserved.values()))


def _crowded_out(places: Mapping[str, Nomination], world: World) -> Iterator[str]:
    """The pods whose place on a serving node was taken by others."""
    rooms: dict[str, Resources] = {}
    for uid, place in places.items():
        node = world.cluster.nodes.get(place.machine)
        # The room of a pod that the scheduler expects there is counted as taken, by itself.
        is_held = world.pending[uid].place == place.machine
        if place.since == NEVER or node is None or is_held:
            continue
        held, wanted = world.cluster.occupancy(node.name), world.pending[uid].requests
        if node.name not in rooms:
            rooms[node.name] = node.allocatable - held.requested
        if not rooms[node.name].covers(wanted):
            own = total(pod.requests for pod in held.pods if _stays(pod))
            # If the node is too small even without others, its type is to blame; see `bind_wait`.
            if (node.allocatable - own).covers(wanted):
                yield uid


def _written(
    world: World, requests: Mapping[str, NodeRequest], now: Instant
) -> Iterator[tuple[str, Nomination]]:
    """The places in requests that name the pods; the newest request of a pod comes last.

    A request that was made in vain is kept beside the one that replaces it.
    """
    pending = world.pending
    if not pending:
        return
    awaited = (
        name
        for name, request in requests.items()
        if any(each.uid in pending for each in request.spec.pods)
    )
    dated = ((_since(requests[name], now), name) for name in awaited)
    for since, name in sorted((since, name) for since, name in dated if since is not None):
        for reference in requests[name].spec.pods:
            pod = pending.get(reference.uid)
            if pod is not None:
                yield (
                    reference.uid,
                    Nomination(machine=name, shape=pod.shape, is_bought_for=True, since=since),
                )


def _since(request: NodeRequest, now: Instant) -> float | None:
    """When pods could have been bound to its node at first; None if it promises nothing."""
    phase, ready_at = request.status.phase, request.status.ready_at
    if phase is RequestPhase.READY and ready_at is not None:
        return now.monotonic - max(0.0, now.seconds_since(ready_at))
    return NEVER if phase in COMING else None


class MachineStage(enum.Enum):
    """How far a machine is, for a pod that waits for it."""

    COMING = enum.auto()
    SERVING = enum.auto()
    GONE = enum.auto()


def _stage(machine: str, world: World, requests: Mapping[str, NodeRequest]) -> MachineStage:
    node = world.cluster.nodes.get(machine)
    if node is not None and serves_now(node, world):
        return MachineStage.SERVING
    request = requests.get(machine)
    phase = None if request is None else request.status.phase
    if phase is RequestPhase.READY:
        # It still has the start-up taint, or its node isn't in the cache yet, which doesn't last.
        return MachineStage.SERVING if node is None else MachineStage.COMING
    return MachineStage.COMING if phase in COMING else MachineStage.GONE


def _vain(place: Nomination, pod: Pod, world: World) -> Node | None:
    """The node that didn't serve the pod although it has room; None if others took the room."""
    node = world.cluster.nodes.get(place.machine)
    if node is None:
        return None
    if isinstance(verdict(pod, node, world.cluster), Fits):
        return node
    held = Occupancy(
        tuple(each for each in world.cluster.occupancy(node.name).pods if _stays(each))
    )
    alone = {**world.cluster.occupancies, node.name: held}
    emptied = msgspec.structs.replace(world.cluster, occupancies=alone)
    # If the pods that it must be near went elsewhere, that isn't the node's fault either.
    return None if isinstance(verdict(without_affinity(pod), node, emptied), Fits) else node


def _stays(pod: Pod) -> bool:
    """Whether the pod belongs to the node, so that it isn't one that took the room."""
    return pod.is_of_daemon_set or pod.is_static


def _unserved(
    ended: Iterable[Nomination], requests: Mapping[str, NodeRequest], now: Instant
) -> Iterator[tuple[tuple[Shape, str], float]]:
    for place in ended:
        request = requests.get(place.machine)
        if place.is_bought_for and request is not None:
            yield (place.shape, request.spec.target_offering), now.monotonic + UNSERVED


def _unserved_in_status(world: World, now: Instant) -> Iterator[tuple[tuple[Shape, str], float]]:
    """What was bought in vain, from the status of pools: the only record after a restart."""
    for pool in world.pools.values():
        for each in pool.status.unserved:
            left = -now.seconds_since(each.until)
            if left > 0:
                yield (Shape(each.shape), each.offering), now.monotonic + left


def _still_declined(before: Nominated, world: World) -> dict[tuple[str, Shape], str]:
    nodes = world.cluster.nodes
    return {
        (name, shape): version
        for (name, shape), version in before.declined.items()
        # Any write to the node may have changed what kept the pod away.
        if name in nodes and nodes[name].metadata.resource_version == version
    }
