"""Which node a request's machine has become: it has its name, or the machine's id as providerID."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from reconciler.core.world import World


def node_of(request: NodeRequest, world: World) -> Node | None:
    """The node that a request's machine has become."""
    named = world.cluster.nodes.get(request.name)
    if named is not None or request.status.node_id is None:
        return named
    found = world.cluster.remembered("nodes by provider id", lambda: _by_provider_id(world))
    return found.get(request.status.node_id)


def _by_provider_id(world: World) -> Mapping[str, Node]:
    """As the cloud writes it, and as the id that stands in it: hcloud://42 and 42."""
    found: dict[str, Node] = {}
    for node in world.cluster.nodes.values():
        whole = node.spec.provider_id
        if whole:
            found[whole] = found[whole.partition("://")[2]] = node
    return found
