"""Begins the drain of a node without a replacement, by opening a removal of its machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.core.actions import OpenRemoval, machine
from reconciler.core.step import Step
from reconciler.facts.listings import listed_machine
from reconciler.facts.marks import is_cordoned_by_a_person
from reconciler.facts.opening import removal_of
from reconciler.facts.requested import is_coming

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.nodepool import NodePool
    from growth.api.removal_reason import RemovalReason
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import ClassKey


def drain_begun(
    node: Node,
    pool: NodePool,
    world: World,
    seen: Mapping[ClassKey, SightedCloud],
    *,
    reason: RemovalReason,
    why: str,
) -> Step | None:
    """A removal, if the provider lists the machine and nothing else has begun with the node."""
    listed = listed_machine(node, pool, world, seen)
    if listed is None or not _may_begin(node, world):
        return None
    removal = removal_of(listed, pool=pool, reason=reason)
    return Step(actions=(OpenRemoval(removal=removal),), why=why)


def _may_begin(node: Node, world: World) -> bool:
    return (
        not is_coming(node.name, world)
        and node.name not in world.removals
        and world.is_free(machine(node.name))
        and not is_cordoned_by_a_person(node)
    )
