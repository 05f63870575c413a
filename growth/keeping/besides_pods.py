"""Why a node is kept for reasons other than its pods, for removal, for replacement and for people.

Without such a reason, a node that no pod keeps is idle, and a node in use may be replaced if all of
its pods may be moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.noderequest import RequestPhase
from growth.keeping.marks import is_unregistered, pool_of_node
from growth.keeping.wanting import GROWTH, Keeping, KeepingReason, who_wants

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.keeping.scene import KeepingScene
    from growth.scheduling.node import Node


def kept_besides_pods(node: Node, scene: KeepingScene, now: Instant) -> Keeping | None:
    """Why the node would be kept even without pods; None if only pods can keep it."""
    kept = _kept(node, scene, promises=scene.promises)
    return kept or _starting(node, scene, now)


def kept_though_sick(node: Node, scene: KeepingScene) -> Keeping | None:
    """The same for a sick node, to which no pod will come, even if it has a promise."""
    return _kept(node, scene, promises=())


def _kept(node: Node, scene: KeepingScene, *, promises: Collection[str]) -> Keeping | None:
    if (removal := scene.removals.get(node.name)) is not None:
        return _leaving(removal)
    return who_wants(
        node,
        (),
        pool=scene.pools.get(pool_of_node(node)),
        promises=promises,
        pauses=scene.pauses,
        in_place_of=scene.in_place_of.get(node.name, ""),
    )


def _leaving(removal: NodeRemovalRequest) -> Keeping:
    if removal.status.phase is RemovalPhase.REMOVAL_FAILED:
        tries = removal.status.removal_attempt
        why = f"its machine still exists after {tries} requests to delete it"
        owner = f"NodeRemovalRequest {removal.name}"
        return Keeping(reason=KeepingReason.REMOVAL_FAILED, why=why, owner=owner)
    why = f"it is being removed ({removal.spec.reason}, {removal.status.phase})"
    return Keeping(reason=KeepingReason.LEAVING, why=why, owner=GROWTH)


def _starting(node: Node, scene: KeepingScene, now: Instant) -> Keeping | None:
    """Why a new node is kept: its pods have some time to arrive."""
    request = scene.requests.get(node.name)
    if is_unregistered(node):
        return _new(node, "it isn't ready yet", ends=_latest(request, scene))
    if request is None:
        return None
    ready_at = request.status.ready_at
    if request.status.phase is not RequestPhase.READY or ready_at is None:
        return _new(node, "its request isn't Ready yet", ends=_latest(request, scene))
    left = now.left_of(scene.bind_wait, since=ready_at)
    if left <= 0:
        return None
    ends = now.ahead(left)
    return _new(node, "it is new, and its pods have some time to arrive", ends=ends)


def _new(node: Node, why: str, *, ends: datetime | None) -> Keeping:
    owner = f"NodeRequest {node.name}"
    return Keeping(reason=KeepingReason.STARTING, why=why, owner=owner, ends=ends)


def _latest(request: NodeRequest | None, scene: KeepingScene) -> datetime | None:
    """When the node must serve, or is removed."""
    pool = None if request is None else scene.pools.get(request.spec.pool)
    if request is None or pool is None or request.status.accepted_at is None:
        return None
    return request.status.accepted_at + pool.spec.readiness_wait.timedelta
