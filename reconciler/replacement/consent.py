"""Asks again, right before removals are opened, whether the old nodes of a swap may still go.

Minutes lie between the plan of a swap and its end, and its objects can be written by others. So
what allowed the swap at its beginning is checked once more: the reason still holds, the budgets of
the pools have room, nothing keeps the nodes, and all machines are those of their pools.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from growth.api.disruption import DisruptionReason
from reconciler.facts.keeping_scene import scene_of
from reconciler.facts.listings import listed_machine
from reconciler.facts.ownership import pool_of_node
from reconciler.replacement.candidates import ceilings, disrupted
from reconciler.replacement.kept import kept_from
from reconciler.replacement.renewing import outdated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.replacement.scene import ReplacementScene


class Standing(enum.Enum):
    """What may become of an old node."""

    GOES = "goes"
    WAITS = "stays for now"
    STAYS = "stays"


class Consent(NamedTuple):
    """The answer about the old nodes of a swap."""

    goes: tuple[str, ...]
    """The nodes that may go now."""
    is_refused: bool
    """Whether none of them may go, now or later."""


def asked_again(
    names: Iterable[str],
    reason: DisruptionReason,
    scene: ReplacementScene,
    *,
    machines: Iterable[str] = (),
) -> Consent:
    """Which of these nodes may go; `machines` are those that take their place."""
    names = sorted(names)
    standing = {name: _standing(name, reason, scene) for name in names}
    coming = {_of_its_pool(name, scene) for name in machines}
    if Standing.STAYS in coming:
        return Consent(goes=(), is_refused=True)
    room = dict(ceilings(scene.look, reason, disrupted(scene.look, scene.old - set(names))))
    goes = []
    is_refused = True
    for name in names:
        pool = _pool(name, scene)
        if standing[name] is Standing.STAYS or room.get(pool, 0) <= 0:
            continue
        is_refused = False
        if standing[name] is Standing.GOES and Standing.WAITS not in coming:
            room[pool] -= 1
            goes.append(name)
    return Consent(goes=tuple(goes), is_refused=is_refused)


def _pool(name: str, scene: ReplacementScene) -> str:
    node = scene.world.cluster.nodes.get(name)
    return "" if node is None else pool_of_node(node)


def _standing(name: str, reason: DisruptionReason, scene: ReplacementScene) -> Standing:
    node = scene.world.cluster.nodes.get(name)
    if node is None:
        return Standing.STAYS
    has_cause = _cause(name, reason, scene)
    if has_cause is not Standing.GOES:
        return has_cause
    if kept_from(reason, node, scene_of(scene.world), scene.now) is not None:
        return Standing.WAITS
    return _of_its_pool(name, scene)


def _cause(name: str, reason: DisruptionReason, scene: ReplacementScene) -> Standing:
    """Whether the reason still holds; what would be cheaper is asked of the solver."""
    match reason:
        case DisruptionReason.UNHEALTHY if name not in scene.sick:
            # After a restart, or while many are sick, a node has to be seen sick for longer.
            is_well = scene.world.cluster.nodes[name].is_ready
            return Standing.STAYS if is_well else Standing.WAITS
        case DisruptionReason.DRIFT if name not in outdated(scene.world, scene.now):
            return Standing.STAYS
        case _:
            return Standing.GOES


def _of_its_pool(name: str, scene: ReplacementScene) -> Standing:
    """Whether the provider lists its machine in the pool that its Node names."""
    node = scene.world.cluster.nodes.get(name)
    if node is None:
        return Standing.WAITS
    pool = scene.world.pools.get(pool_of_node(node))
    if pool is None:
        return Standing.STAYS
    listed = listed_machine(node, pool, scene.world, scene.look.clouds)
    if listed is None:
        return Standing.WAITS
    return Standing.GOES if listed.pool == pool.name else Standing.STAYS
