"""Whether a pool grows: because nodes are missing, or because pods wait for more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.scheduling.fits import Fits, verdict
from reconciler.buying.market import sold
from reconciler.scaling.desired.cooldowns import is_cooling_up
from reconciler.scaling.desired.counting import raised_count
from reconciler.scaling.desired.scene import machines_by_type, number_fields, waiting_pods
from reconciler.scaling.desired.sizing import deficit_of, nodes_needed
from reconciler.scaling.desired.types import NoTypeAvailable, TypeChosen, chosen_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from growth.api.nodepool import NodePool
    from growth.api.written import ServerTypeName
    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.scaling.desired.counting import SizeCounts
    from reconciler.scaling.desired.scene import GroupScene


def next_type(pool: NodePool, world: World) -> TypeChosen[ServerTypeName] | NoTypeAvailable:
    """The server type that the pool buys next, of those that are to be had in its locations."""
    have = machines_by_type(pool, world)
    full = {entry.name for entry in pool.spec.server_types if have.get(entry.name, 0) >= entry.max}
    return chosen_type(
        (entry.name for entry in pool.spec.server_types),
        preferred=number_fields(pool).preferred_instance_type,
        available={item.offering.server_type for item in _items(pool, world)} - full,
    )


def _items(pool: NodePool, world: World) -> Iterator[Purchasable]:
    return (item for item in sold(world) if item.pool.name == pool.name)


class PodsWaiting(msgspec.Struct, frozen=True, kw_only=True):
    """What pods ask of a pool."""

    pods: int = 0
    """Those that more nodes would help."""
    needed: int = 0
    """Nodes for them."""
    desired: int | None = None
    """The number that they raise the desired one to, if they do now."""


def raised_for_pods(
    pool: NodePool,
    scene: GroupScene,
    world: World,
    *,
    counts: SizeCounts,
    elapsed: float | None,
) -> PodsWaiting:
    """What the pods that wait for this pool ask of it now."""
    waiting = waiting_pods(pool, world)
    if not waiting:
        return PodsWaiting()
    chosen = next_type(pool, world)
    if isinstance(chosen, NoTypeAvailable):
        return PodsWaiting(pods=len(waiting), needed=1)
    items = [each for each in _items(pool, world) if each.offering.server_type == chosen.type]
    helped = _helped(waiting, items, world)
    needed = nodes_needed(deficit_of(helped), min(items, key=lambda e: e.name).room)
    fields = number_fields(pool)
    raised = raised_count(
        counts,
        # A machine that doesn't serve yet, or that pods had no time to come to, is for these pods.
        ready=counts.current - scene.coming - scene.fresh,
        needed=needed,
        batch=fields.scale_up_batch_size,
        cools=is_cooling_up(fields.scale_up_cooldown.seconds, elapsed=elapsed),
    )
    return PodsWaiting(pods=len(helped), needed=needed, desired=raised if needed else None)


def _helped(pods: Sequence[Pod], items: Sequence[Purchasable], world: World) -> tuple[Pod, ...]:
    """The pods that fit an empty node of the type: for others, no number of them is enough."""
    fits: dict[Shape, bool] = {}
    for pod in pods:
        if pod.shape not in fits:
            fits[pod.shape] = any(
                isinstance(verdict(pod, item.node, world.cluster), Fits) for item in items
            )
    return tuple(pod for pod in pods if fits[pod.shape])
