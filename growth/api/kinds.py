"""All kinds by name, to decode an object whose kind is only known from its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.clusterfleet import ClusterFleet
from growth.api.clusterrecord import ClusterRecord
from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.hvpa import Hvpa
from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.wellknown import GROUP, GROUP_VERSION, SEED_GROUP_VERSION

if TYPE_CHECKING:
    from growth.api.meta import CustomResource
    from growth.api.nodeclass import NodeClass

NODE_CLASSES: Final[dict[str, type[NodeClass]]] = {
    kind.__name__: kind for kind in (HetznerNodeClass, KwokNodeClass)
}
"""Kind -> model of the node classes, one for each kind of provider."""
KINDS: Final[dict[str, type[CustomResource]]] = {
    kind.__name__: kind for kind in (NodePool, NodeRequest, NodeRecord, NodeRemovalRequest)
} | dict(NODE_CLASSES)
"""Kind -> model."""
FLEET_KINDS: Final[dict[str, type[CustomResource]]] = {
    kind.__name__: kind for kind in (ClusterFleet, ClusterRecord)
}
"""Kind -> model of what only a management cluster has, where fleets are decided about."""
SIZING_KINDS: Final[dict[str, type[CustomResource]]] = {Hvpa.__name__: Hvpa}
"""Kind -> model of what only a cluster has in which growth sizes workloads."""
FILE_KINDS: Final[dict[str, type[CustomResource]]] = KINDS | FLEET_KINDS | SIZING_KINDS
"""Kind -> model, of what files may contain."""

__all__ = [
    "FILE_KINDS",
    "FLEET_KINDS",
    "GROUP",
    "GROUP_VERSION",
    "KINDS",
    "NODE_CLASSES",
    "SEED_GROUP_VERSION",
    "SIZING_KINDS",
]
