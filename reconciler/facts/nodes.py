"""Which node a machine has become: it has the machine's name, and its id in its providerID.

Clouds write their ids into a providerID in ways of their own, so each reads only what its own kind
of cloud may have written: two clouds can give the same id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.keeping.believing import is_node_of
from reconciler.providers.registry import PROVIDERS

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey


def node_of(request: NodeRequest, world: World) -> Node | None:
    """The node that a request's machine has become: it has the name of both, and their id.

    A Node that only claims the id could be anyone's.
    """
    node, record = world.cluster.nodes.get(request.name), world.records.get(request.name)
    if node is None or record is None:
        return node
    return node if is_node_of(node, record) else None


def machine_id_of(node: Node, key: ClassKey) -> str | None:
    """The id of a node's machine at the cloud of a node class; None where it names none there."""
    kind = PROVIDERS.get(key.kind)
    return None if kind is None else kind.machine_id(node.spec.provider_id)
