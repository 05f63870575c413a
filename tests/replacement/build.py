"""Nodes that tell what they were made from, and worlds that make machines otherwise by now."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.wellknown import TEMPLATE_ANNOTATION
from growth.api.written import ServerTypeName
from growth.scheduling.resources import Resources
from reconciler.buying.blueprints import blueprint_of
from reconciler.providers.port import ClassKey, Offering
from tests.hetzner.build import node_class as hetzner
from tests.reconciler.build import node_class, pool, world
from tests.removal.build import NAME
from tests.removal.build import node as plain

if TYPE_CHECKING:
    from growth.api.nodeclass import NodeClass
    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.core.world import World


def offering(server_type: str = "small", *, arch: str = "amd64", zone: str = "") -> Offering:
    labels = {"kubernetes.io/arch": arch, "topology.kubernetes.io/zone": zone}
    return Offering(
        provider="kwok",
        server_type=ServerTypeName(server_type),
        location="here",
        price=Decimal(1),
        allocatable=Resources({}),
        labels=labels,
    )


def key_of(made: NodeClass) -> ClassKey:
    return ClassKey(made.kind, made.name)


def having(pools: NodePool, made: NodeClass, *objects: Any, **changes: Any) -> World:
    """A world with this pool and this node class, of whichever kind."""
    if isinstance(made, KwokNodeClass):
        return world(pools, made, *objects, **changes)
    changes["node_classes"] = {key_of(made): made}
    return world(pools, *objects, **changes)


def made_in(
    given: World,
    name: str = NAME,
    /,
    *,
    sold: Offering | None = None,
    labels: dict[str, str] | None = None,
    **fields: Any,
) -> Node:
    """A node of a machine that was bought in a world, and has served since."""
    bought = sold or offering()
    text = blueprint_of(given.pools["default"], bought, given).text
    server_type = bought.server_type.canonical
    annotations = {TEMPLATE_ANNOTATION: text}
    node = plain(name, annotations=annotations, server_type=server_type, **fields)
    metadata = msgspec.structs.replace(node.metadata, labels={**node.labels, **(labels or {})})
    return msgspec.structs.replace(node, metadata=metadata)


__all__ = ["having", "hetzner", "made_in", "node_class", "offering", "pool"]
