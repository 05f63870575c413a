"""Which node class a pool's machines are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.wellknown import DEFAULT_NODE_CLASS
from reconciler.providers.port import ClassKey

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.core.world import World


def node_class_of(pool: NodePool, world: World) -> ClassKey:
    """The node class of a pool: what it names, else the one that is called `default`."""
    reference = pool.spec.node_class_ref
    if reference is not None:
        return ClassKey(reference.kind.value, reference.name)
    found = [key for key in world.node_classes if key.name == DEFAULT_NODE_CLASS]
    # With two of them any choice would be a guess at which cloud to buy; the pool's condition says
    # so.
    return found[0] if len(found) == 1 else ClassKey("", DEFAULT_NODE_CLASS)
