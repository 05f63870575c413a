"""The currency of a pool's prices. Amounts in different currencies are never compared or added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.core.world import World


def currency_of_pool(pool: NodePool | None, world: World) -> str:
    """Its current currency: that of its catalogue, else of its node class; empty if unknown."""
    if pool is None:
        return ""
    key = node_class_of(pool, world)
    if offerings := world.offerings.get(key):
        return offerings[0].currency
    node_class = world.node_classes.get(key)
    return "" if node_class is None else node_class.currency
