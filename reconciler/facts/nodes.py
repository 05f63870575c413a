"""Which node a machine has become: it has the machine's name, or names its id as providerID.

Clouds write their ids into a providerID in ways of their own, so each reads only what its own kind
of cloud may have written: two clouds can give the same id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.providers.registry import PROVIDERS, provider_of_offering

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey


def node_of(request: NodeRequest, world: World) -> Node | None:
    """The node that a request's machine has become."""
    named = world.cluster.nodes.get(request.name)
    kind = provider_of_offering(request.spec.target_offering)
    if named is not None or kind is None or request.status.node_id is None:
        return named
    found = world.cluster.remembered("nodes by machine", lambda: _by_machine(world))
    return found.get((kind.node_class.provider, request.status.node_id))


def machine_id_of(node: Node, key: ClassKey) -> str | None:
    """The id of a node's machine at the cloud of a node class; None where it names none there."""
    kind = PROVIDERS.get(key.kind)
    return None if kind is None else kind.machine_id(node.spec.provider_id)


def _by_machine(world: World) -> Mapping[tuple[str, str], Node]:
    """The nodes by provider and machine ID."""
    return {
        (kind.node_class.provider, machine_id): node
        for node in world.cluster.nodes.values()
        for kind in PROVIDERS.values()
        if (machine_id := kind.machine_id(node.spec.provider_id)) is not None
    }
