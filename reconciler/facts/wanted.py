"""Why a node with an open removal is still needed, in the words of `growth.keeping`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.keeping import wanting
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.swap_annotation import place_taken

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.core.world import World


def promised(world: World) -> frozenset[str]:
    """The nodes that pods wait for, by name."""
    return frozenset(place.machine for place in world.ledger.planning.nominated.places.values())


def reason_to_stay(node: Node, world: World, promises: frozenset[str]) -> str:
    """Why a node stays, in a few words; empty if it is idle."""
    found = wanting.who_wants(
        node,
        world.cluster.occupancy(node.name).keepers,
        pool=world.pools.get(pool_of_node(node)),
        promises=promises,
        pauses=world.ledger.brakes.pauses,
        in_place_of=place_taken(node, world),
    )
    return found.why if found else ""


def keeper_on(name: str, world: World) -> str:
    """A pod that keeps a node, as namespace/name; empty if none does."""
    kept = world.cluster.occupancy(name).keepers
    return kept[0].name if kept else ""
