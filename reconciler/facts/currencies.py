"""What the prices of a pool are in. Two currencies are never compared and never added up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.core.world import World


def currency_of_pool(pool: NodePool | None, world: World) -> str:
    """What it buys in today: as its catalogue says, else its node class; empty if none does."""
    if pool is None:
        return ""
    key = node_class_of(pool, world)
    if offerings := world.offerings.get(key):
        return offerings[0].currency
    node_class = world.node_classes.get(key)
    return "" if node_class is None else node_class.currency
