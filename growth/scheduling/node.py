"""A node: the fields that growth reads, and values derived from them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling import resources
from growth.scheduling.metadata import Metadata, ObservedCondition
from growth.scheduling.quantity import Amount
from growth.scheduling.taints import Taint

if TYPE_CHECKING:
    from growth.scheduling.resources import Resources


class NodeSpec(msgspec.Struct, frozen=True, gc=False, rename={"provider_id": "providerID"}):
    """What people, the cloud and growth set on a node."""

    provider_id: str = ""
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class NodeSystem(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The system that runs on the machine."""

    architecture: str = ""
    operating_system: str = ""
    kubelet_version: str = ""


class NodeStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the kubelet reports about its node."""

    capacity: dict[str, Amount] = {}
    allocatable: dict[str, Amount] = {}
    conditions: tuple[ObservedCondition, ...] = ()
    node_info: NodeSystem = NodeSystem()


class Node(msgspec.Struct, frozen=True, dict=True):
    """A node with its derived values."""

    metadata: Metadata = Metadata()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    # Rules read name and labels of all nodes, and a cached attribute is three times as fast as a
    # property.
    @cached_property
    def name(self) -> str:
        """The name; nodes have no namespace."""
        return self.metadata.name

    @cached_property
    def labels(self) -> dict[str, str]:
        """The labels."""
        return self.metadata.labels

    @cached_property
    def is_ready(self) -> bool:
        """Whether its Ready condition is true."""
        return any(
            each.type == "Ready" and each.status == "True" for each in self.status.conditions
        )

    @cached_property
    def taint_keys(self) -> frozenset[str]:
        """The keys of its taints."""
        return frozenset(taint.key for taint in self.spec.taints)

    @cached_property
    def allocatable(self) -> Resources:
        """The resources for all of its pods together; of an amount that can't be read, nothing."""
        return resources.readable_resources(self.status.allocatable)
