"""Who wants a node: the reasons for which an idle one stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.wellknown import DO_NOT_DISRUPT_ANNOTATION
from reconciler.marks import is_cordoned_by_a_person
from reconciler.ownership import pool_of_node

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.world import World


def promised(world: World) -> frozenset[str]:
    """The nodes that pods wait for, by name."""
    return frozenset(place.machine for place in world.ledger.planning.nominated.places.values())


def wanted(node: Node, world: World, promises: frozenset[str]) -> str:
    """Why a node stays, in a few words; empty if it is idle."""
    if kept := keeper_on(node.name, world):
        return f"{kept} is there"
    if node.name in promises:
        return "a pod is promised a place on it"
    if is_cordoned_by_a_person(node):
        return "a person has cordoned it"
    if DO_NOT_DISRUPT_ANNOTATION in node.metadata.annotations:
        return "it may not be disrupted"
    return "its pool is paused" if world.is_paused(pool_of_node(node)) else ""


def keeper_on(name: str, world: World) -> str:
    """A pod that keeps a node, as namespace/name; empty if none does."""
    kept = world.cluster.occupancy(name).keepers
    return kept[0].name if kept else ""
