"""What a NodePool has and lacks, as growth writes it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from growth.api.bounds import Atomic, Count, Identifier, ListMap, Sentence
from growth.api.conditions import Conditions
from growth.api.meta import Blockage, PodReference
from growth.api.model import Model
from growth.api.written import Money, Quantity, ServerType, Timestamp


class ServerTypeCount(Model):
    """What the pool has of one server type."""

    name: ServerType
    """The server type."""
    nodes: Count = 0
    """Nodes that have joined."""
    ready: Count = 0
    """Nodes that serve."""
    requested: Count = 0
    """Machines that are on their way."""


class UnmetOffer(Model):
    """Something that the provider couldn't deliver lately."""

    server_type: Annotated[str, Field(max_length=63)] = ""
    """The type; empty means the whole location."""
    location: Annotated[str, Field(max_length=63)] = ""
    """The location; empty, with an empty type, means the whole project."""
    until: Timestamp
    """Not tried before; afterwards with one machine until one request for it is Ready."""
    failures: Count = 1
    """Failures in a row; each doubles the wait."""


class LearntAllocatable(Model):
    """What nodes of a type really offer to pods, as the smallest one showed."""

    server_type: ServerType
    """The server type."""
    resources: Annotated[Mapping[str, Quantity], Field(max_length=32)]
    """Allocatable of the smallest node seen."""


class UnplacedPod(Model):
    """A pod that the last plan had no place for."""

    pod: PodReference
    """The pod."""
    reason: Sentence
    """What it lacks, and what would help."""
    tries: Count = 0
    """Plans in a row that left it out."""
    next_try: Timestamp | None = None
    """When it is planned again, if nothing changes before."""


class UnservedShape(Model):
    """A kind of pod that a machine was bought for and didn't run; it isn't bought again for it."""

    owner: Identifier
    """The workload, as kind/namespace/name."""
    shape: Annotated[str, Field(max_length=64)]
    """Hash of what its pods ask for."""
    offering: Annotated[str, Field(max_length=127)]
    """What was bought in vain, such as hetzner-cax11."""
    until: Timestamp
    """When it may be tried again."""


class NodePoolStatus(Model):
    """What the pool has and what it lacks."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status is about."""
    nodes: Count = 0
    """Nodes that have joined."""
    ready: Count = 0
    """Nodes that serve."""
    wanted: Count = 0
    """Nodes that serve, or will when everything asked for has come."""
    hourly_cost: Money = Decimal(0)
    """What the pool's machines cost an hour."""
    server_types: Annotated[
        tuple[ServerTypeCount, ...], Field(max_length=256), ListMap("name")
    ] = ()
    """The same for each server type."""
    blocked: Blockage | None = None
    """Why the pool buys nothing until somebody changes something."""
    unmet_offers: Annotated[
        tuple[UnmetOffer, ...], Field(max_length=512), ListMap("serverType", "location")
    ] = ()
    """What the provider couldn't deliver lately."""
    learnt_allocatable: Annotated[
        tuple[LearntAllocatable, ...], Field(max_length=256), ListMap("serverType")
    ] = ()
    """What nodes really offer to pods; plans use it instead of the catalogue."""
    unplaced: Annotated[tuple[UnplacedPod, ...], Field(max_length=50), Atomic()] = ()
    """Pods that the last plan had no place for, the most urgent first."""
    unserved: Annotated[tuple[UnservedShape, ...], Field(max_length=100), Atomic()] = ()
    """Pods that a machine was bought for in vain."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, after kstatus."""
