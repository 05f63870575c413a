"""The annotation that links a swap's new machines to the nodes that they replace.

It is on the request and, once joined, on the node. All machines of one swap have the same text, so
nothing else has to be remembered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from growth.api.disruption import DisruptionReason
from growth.api.wellknown import REPLACES_ANNOTATION
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from reconciler.core.world import World


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the annotation."""

    nodes: tuple[str, ...]
    of: int
    """How many machines come in their place."""
    reason: DisruptionReason


def swap_text(nodes: Iterable[str], *, of: int, reason: DisruptionReason) -> str:
    """The words of a swap; the same for all of its machines."""
    words = {"nodes": sorted(nodes), "of": of, "reason": reason.value}
    return json.dumps(words, separators=(",", ":"))


def read_swap(text: str) -> Words | None:
    """The content of the annotation; None if growth didn't write it."""
    try:
        return msgspec.json.decode(text, type=Words)
    # A kubelet may write any annotation on its Node. One with a broken text once ended every pass.
    except UNDECODABLE:
        return None


def annotation(resource: NodeRequest | Node) -> str | None:
    """The annotation of a request or a node; None if it doesn't have one."""
    return resource.metadata.annotations.get(REPLACES_ANNOTATION)


def on_nodes(cluster: Cluster) -> Mapping[str, str]:
    """The annotations of nodes by name; computed once for each snapshot of the cluster."""
    return cluster.remembered("words of swaps", lambda: _on_nodes(cluster))


def _on_nodes(cluster: Cluster) -> Mapping[str, str]:
    found = ((name, annotation(node)) for name, node in cluster.nodes.items())
    return {name: text for name, text in found if text is not None}


def place_taken(node: Node, world: World) -> str:
    """A node that this one replaces and that still exists; empty if there is none."""
    text = annotation(node)
    if text is None or text in world.ledger.replacement.given_up:
        return ""
    words = read_swap(text)
    names = () if words is None else words.nodes
    return next((name for name in names if name in world.cluster.nodes), "")
