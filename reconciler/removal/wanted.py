"""Who wants a node: the reasons for which an idle one stays, in the words that everybody uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.keeping import wanting
from reconciler.replaces import place_taken

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.world import World


def promised(world: World) -> frozenset[str]:
    """The nodes that pods wait for, by name."""
    return frozenset(place.machine for place in world.ledger.planning.nominated.places.values())


def wanted(node: Node, world: World, promises: frozenset[str]) -> str:
    """Why a node stays, in a few words; empty if it is idle."""
    keepers = world.cluster.occupancy(node.name).keepers
    pauses = world.ledger.brakes.pauses
    found = wanting.wanted(
        node, keepers, promises=promises, pauses=pauses, in_place_of=place_taken(node, world)
    )
    return found.why if found else ""


def keeper_on(name: str, world: World) -> str:
    """A pod that keeps a node, as namespace/name; empty if none does."""
    kept = world.cluster.occupancy(name).keepers
    return kept[0].name if kept else ""
