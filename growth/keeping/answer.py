"""The answer for every node of ours, in the order in which removal asks its questions.

A node with pods has its reason in them, first of all in one that may not be moved. A node without
is idle unless somebody wants it, and then goes when its wait is over; what comes before that (a
start, the pool's minimum, a paid hour) has an end of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.api.nodepool import NodePool, PaidHour
from growth.api.noderemovalrequest import NodeRemovalRequest, RemovalPhase
from growth.api.noderequest import NodeRequest, RequestPhase
from growth.keeping.marks import bought_at, is_unregistered, pool_of_node, scale_down_at
from growth.keeping.occupants import NOBODY, occupants
from growth.keeping.order import in_order, kept_at_least, leaving_nodes
from growth.keeping.paid_hours import seconds_until_marked
from growth.keeping.wanting import GROWTH, Keeping, KeepingReason, KnownPause, who_wants
from growth.scheduling.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.instant import Instant
    from growth.keeping.occupants import Occupants
    from growth.scheduling.node import Node

BIND_WAIT: Final = 15.0
"""Seconds that a node which serves has for its pods."""


class KeepingScene(msgspec.Struct, frozen=True, kw_only=True):
    """What the answers depend on."""

    cluster: Cluster
    pools: Mapping[str, NodePool]
    requests: Mapping[str, NodeRequest] = {}
    removals: Mapping[str, NodeRemovalRequest] = {}
    promises: frozenset[str] = frozenset()
    """The nodes that pods wait for."""
    in_place_of: Mapping[str, str] = {}
    """Nodes that came for others, by name: one that goes when this one serves."""
    pauses: Mapping[str, KnownPause] = {}
    paid_hours: Mapping[str, PaidHour] = {}
    """What is done with hours that are paid, by pool."""
    bind_wait: float = BIND_WAIT


def keepings(scene: KeepingScene, now: Instant) -> Mapping[str, Keeping]:
    """Why each node of ours is there, by its name."""
    return keeping_answers(scene, now).keepings


class KeepingAnswers(NamedTuple):
    """The answers of one moment."""

    keepings: Mapping[str, Keeping]
    occupants: Occupants
    """What makes the next answers cheap."""


def keeping_answers(
    scene: KeepingScene, now: Instant, *, before: Occupants = NOBODY
) -> KeepingAnswers:
    """The same, for whoever asks again and again."""
    nodes = scene.cluster.nodes
    ours = [name for name in sorted(nodes) if pool_of_node(nodes[name])]
    known = occupants(ours, scene.cluster, now, before=before)
    occupied = {
        name: keeping
        for name in ours
        if name not in scene.removals and (keeping := known.answers[name].keeping) is not None
    }
    others = of_unoccupied((nodes[name] for name in ours if name not in occupied), scene, now)
    return KeepingAnswers({**occupied, **others}, known)


def of_unoccupied(
    nodes: Iterable[Node], scene: KeepingScene, now: Instant
) -> Mapping[str, Keeping]:
    """The answers for nodes that no pod keeps, or that are leaving.

    All of a pool have to be asked about together, as some of them may be its minimum.
    """
    found: dict[str, Keeping] = {}
    idle: defaultdict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        keeping = _unoccupied(node, scene, now)
        if keeping is not None:
            found[node.name] = keeping
        else:
            idle[pool_of_node(node)].append(node)
    for pool, without in sorted(idle.items()):
        found |= dict(_of_idle(without, scene, now, pool=pool))
    return found


def _unoccupied(node: Node, scene: KeepingScene, now: Instant) -> Keeping | None:
    """Why it is there, if it isn't idle."""
    if (removal := scene.removals.get(node.name)) is not None:
        return _leaving(removal)
    return who_wants(
        node,
        (),
        pool=scene.pools.get(pool_of_node(node)),
        promises=scene.promises,
        pauses=scene.pauses,
        in_place_of=scene.in_place_of.get(node.name, ""),
    ) or _starting(node, scene, now)


def _leaving(removal: NodeRemovalRequest) -> Keeping:
    if removal.status.phase is RemovalPhase.REMOVAL_FAILED:
        tries = removal.status.removal_attempt
        why = f"the provider was asked {tries} times to delete its machine, and it is still there"
        owner = f"NodeRemovalRequest {removal.name}"
        return Keeping(reason=KeepingReason.REMOVAL_FAILED, why=why, owner=owner)
    why = f"it is being given back ({removal.spec.reason}, {removal.status.phase})"
    return Keeping(reason=KeepingReason.LEAVING, why=why, owner=GROWTH)


def _starting(node: Node, scene: KeepingScene, now: Instant) -> Keeping | None:
    """A new node has some time for the pods that it was bought for."""
    request = scene.requests.get(node.name)
    if is_unregistered(node):
        return _new(node, "it doesn't serve yet", ends=_latest(request, scene))
    if request is None:
        return None
    ready_at = request.status.ready_at
    if request.status.phase is not RequestPhase.READY or ready_at is None:
        return _new(node, "its request isn't Ready yet", ends=_latest(request, scene))
    left = now.left_of(scene.bind_wait, since=ready_at)
    if left <= 0:
        return None
    ends = now.wall + timedelta(seconds=left)
    return _new(node, "its pods have some time to come", ends=ends)


def _new(node: Node, why: str, *, ends: datetime | None) -> Keeping:
    owner = f"NodeRequest {node.name}"
    return Keeping(reason=KeepingReason.STARTING, why=why, owner=owner, ends=ends)


def _latest(request: NodeRequest | None, scene: KeepingScene) -> datetime | None:
    """When it has to serve, or is given back."""
    pool = None if request is None else scene.pools.get(request.spec.pool)
    if request is None or pool is None or request.status.accepted_at is None:
        return None
    return request.status.accepted_at + pool.spec.readiness_wait.timedelta


def _of_idle(
    nodes: list[Node], scene: KeepingScene, now: Instant, *, pool: str
) -> Iterator[tuple[str, Keeping]]:
    """Which of a pool's idle nodes stay, and when the others go."""
    rules = scene.pools.get(pool)
    if rules is None:
        why = f"nobody wants it, and there is no NodePool {pool} that gives it back"
        for node in nodes:
            yield (
                node.name,
                Keeping(reason=KeepingReason.IDLE, why=why, owner="whoever deleted the pool"),
            )
        return
    ordered = in_order(nodes, rules, scene.cluster)
    least = set(kept_at_least(ordered, rules, scene.cluster, leaving=leaving_nodes(scene.removals)))
    for node in ordered:
        if node.name in least:
            why = "its pool keeps so many"
            yield (
                node.name,
                Keeping(reason=KeepingReason.MINIMUM, why=why, owner=f"NodePool {pool}"),
            )
        else:
            yield node.name, _going(node, rules, scene, now)


def _going(node: Node, pool: NodePool, scene: KeepingScene, now: Instant) -> Keeping:
    """When an idle node goes."""
    if (at := scale_down_at(node)) is not None:
        why = "nobody wants it: it goes unless a pod comes"
        return Keeping(reason=KeepingReason.IDLE, why=why, owner=GROWTH, ends=at)
    bought = bought_at(node)
    if scene.paid_hours.get(pool.name) is PaidHour.USE and bought is not None:
        wait = seconds_until_marked(bought, pool, now.wall)
        if wait > 0:
            ends = now.wall + timedelta(seconds=wait)
            why = "nobody wants it, and its hour is paid: it stays usable until then"
            return Keeping(reason=KeepingReason.PAID, why=why, owner=GROWTH, ends=ends)
    why = "nobody wants it: it is marked as soon as growth has looked long enough"
    return Keeping(reason=KeepingReason.IDLE, why=why, owner=GROWTH)
