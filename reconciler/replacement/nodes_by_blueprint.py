"""Nodes by their make: nodes with the same blueprint drift together.

They are sorted once for each snapshot of the cluster, so that a pass in which nothing has happened
to nodes looks at makes only.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from growth.api.wellknown import INSTANCE_TYPE_LABEL, TEMPLATE_ANNOTATION
from reconciler.facts.ownership import pool_of_node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from growth.scheduling.node import Node
    from reconciler.core.world import World


class NodeMake(NamedTuple):
    """What nodes with the same blueprint have in common."""

    pool: str
    server_type: str
    template: str


def nodes_by_blueprint(world: World) -> Mapping[NodeMake, Sequence[Node]]:
    """All nodes that were bought, by their make."""
    return world.cluster.remembered("nodes by make", lambda: _makes(world))


def _makes(world: World) -> Mapping[NodeMake, Sequence[Node]]:
    found: defaultdict[NodeMake, list[Node]] = defaultdict(list)
    for node in world.cluster.nodes.values():
        pool, labels = pool_of_node(node), node.labels
        if pool and INSTANCE_TYPE_LABEL in labels:
            template = node.metadata.annotations.get(TEMPLATE_ANNOTATION, "")
            found[NodeMake(pool, labels[INSTANCE_TYPE_LABEL], template)].append(node)
    return found
