"""What the answers of `growth.keeping` depend on, as the reconciler knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.keeping.scene import KeepingScene
from reconciler.facts.paid_hours import paid_hour_in_world
from reconciler.facts.sizes import sizes_of_pools
from reconciler.facts.swap_annotation import on_nodes, place_taken
from reconciler.facts.wanted import promised

if TYPE_CHECKING:
    from reconciler.core.world import World


def scene_of(world: World) -> KeepingScene:
    """The part of a World that they are about."""
    return KeepingScene(
        cluster=world.cluster,
        pools=world.pools,
        requests=world.requests,
        removals=world.removals,
        promises=promised(world),
        in_place_of={
            name: place
            for name in on_nodes(world.cluster)
            if (place := place_taken(world.cluster.nodes[name], world))
        },
        pauses=world.ledger.brakes.pauses,
        paid_hours={name: paid_hour_in_world(pool, world) for name, pool in world.pools.items()},
        sizes=sizes_of_pools(world),
        bind_wait=world.timing.bind_wait,
    )
