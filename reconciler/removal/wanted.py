"""Who wants a node: the reasons for which an idle one stays, in the words that everybody uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodepool import DeletionPolicy
from growth.keeping import wanting
from reconciler.ownership import pool_of_node
from reconciler.replaces import place_taken

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.world import World


def promised(world: World) -> frozenset[str]:
    """The nodes that pods wait for, by name."""
    return frozenset(place.machine for place in world.ledger.planning.nominated.places.values())


def wanted(node: Node, world: World, promises: frozenset[str]) -> str:
    """Why a node stays, in a few words; empty if it is idle."""
    if _is_left_behind(node, world):
        return "its pool is deleted and leaves it to whoever wants it"
    keepers = world.cluster.occupancy(node.name).keepers
    pauses = world.ledger.brakes.pauses
    found = wanting.wanted(
        node, keepers, promises=promises, pauses=pauses, in_place_of=place_taken(node, world)
    )
    return found.why if found else ""


def _is_left_behind(node: Node, world: World) -> bool:
    """Whether its pool goes without it: a mark would stay on it for ever."""
    pool = world.pools.get(pool_of_node(node))
    return (
        pool is not None
        and pool.metadata.deletion_timestamp is not None
        and pool.spec.deletion_policy is DeletionPolicy.RETAIN
    )


def keeper_on(name: str, world: World) -> str:
    """A pod that keeps a node, as namespace/name; empty if none does."""
    kept = world.cluster.occupancy(name).keepers
    return kept[0].name if kept else ""
