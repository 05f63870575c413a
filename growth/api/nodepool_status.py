"""What a NodePool has and lacks, as growth writes it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from growth.api.bounds import Atomic, Count, Identifier, ListMap, Sentence, Word
from growth.api.conditions import Conditions, ObjectStanding, ObjectVerdict
from growth.api.meta import Blockage, PodReference
from growth.api.model import Model
from growth.api.written import Money, Quantity, ServerType, Timestamp

if TYPE_CHECKING:
    from datetime import datetime


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

    def holds(self, moment: datetime) -> bool:
        """Whether it isn't tried: at `until` itself the time is met and not exceeded yet."""
        return moment <= self.until


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


class KeptNode(Model):
    """A node that is there for another reason than pods that run on it."""

    node: Identifier
    """The node."""
    reason: Word
    """Why it is there: RemovalFailed, Leaving, Held, Retained, Promised, Cordoned, DoNotDisrupt,
    Paused, InPlaceOf, Starting, ScalingPolicy, PoolMinimum, PaidHour or Idle."""
    owner: Annotated[str, Field(max_length=512)]
    """Who could change it."""
    until: Timestamp | None = None
    """When it ends by itself; unset if nobody knows."""


class NodesForReason(Model):
    """How many nodes are there for one reason."""

    reason: Word
    """Occupied for nodes on which pods run that could be moved; else as in `kept`."""
    nodes: Count
    """Nodes."""


class ScalingFloor(Model):
    """Machines that the pool's policy wants to be there even without load."""

    server_types: Annotated[tuple[ServerType, ...], Field(max_length=256), Atomic()]
    """Of these types together."""
    nodes: Count
    """So many."""


class ScalingStatus(Model):
    """What the pool's scaling policy has decided, where the spec alone does not tell it."""

    policy: Annotated[str, Field(max_length=63)]
    """The policy that has decided."""
    floors: Annotated[tuple[ScalingFloor, ...], Field(max_length=256), Atomic()] = ()
    """Machines that are bought if they are missing, and are not given back."""
    most: Count | None = None
    """Machines that the policy does not exceed; unset if only the pool's limits do."""
    surplus: Annotated[tuple[Identifier, ...], Field(max_length=256), Atomic()] = ()
    """Nodes that the policy gives back."""
    drains: bool = False
    """Whether pods are moved off the surplus first."""
    message: Sentence = ""
    """Why, for people."""
    changed_at: Timestamp | None = None
    """When the policy last decided something else; cooldowns count from it over a restart."""


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
    nodes_by_reason: Annotated[
        tuple[NodesForReason, ...], Field(max_length=32), ListMap("reason")
    ] = ()
    """How many nodes are there for which reason; each has one."""
    kept: Annotated[tuple[KeptNode, ...], Field(max_length=100), Atomic()] = ()
    """Why nodes are there, until when, and who could change it; in the order in which removal asks,
    then by name. Those that are Occupied are counted in `nodesByReason` only, since their pods come
    and go; `growth explain node` tells of each."""
    scaling: ScalingStatus | None = None
    """What the pool's scaling policy has decided; unset for `demand`."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, after kstatus."""

    @property
    def verdict(self) -> ObjectVerdict:
        """Where the pool stands, by its counts."""
        if self.blocked is not None:
            return self.blocked.verdict
        if self.ready < self.wanted:
            message = f"{self.ready} of {self.wanted} nodes are ready."
            return ObjectVerdict(ObjectStanding.IN_PROGRESS, "Provisioning", message)
        message = f"All {self.ready} nodes are ready."
        return ObjectVerdict(ObjectStanding.CURRENT, "AllServe", message)
