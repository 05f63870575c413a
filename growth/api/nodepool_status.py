"""The status of a NodePool, as growth writes it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from growth.api.bounds import Atomic, Count, Currency, Identifier, ListMap, Sentence, Word
from growth.api.conditions import Conditions, ObjectStanding, ObjectVerdict
from growth.api.meta import Blockage, PodReference
from growth.api.model import Model
from growth.api.observed import ObservedStatus
from growth.api.scaling_status import ScalingStatus
from growth.api.written import Money, Quantity, ServerType, Timestamp

if TYPE_CHECKING:
    from datetime import datetime

MOST_KEPT: Final = 100
"""The most nodes that a pool lists with the reason why they are kept."""


class ServerTypeCount(Model):
    """The nodes of one server type."""

    name: ServerType
    """The server type."""
    nodes: Count = 0
    """Nodes that have joined."""
    ready: Count = 0
    """Nodes that serve."""
    requested: Count = 0
    """Machines on their way."""


class UnmetOffer(Model):
    """Something that the provider recently had none of."""

    server_type: Annotated[str, Field(max_length=63)] = ""
    """The server type. Empty means the whole location."""
    location: Annotated[str, Field(max_length=63)] = ""
    """The location. Empty, with an empty type, means the whole project."""
    until: Timestamp
    """growth doesn't try again before this time. After it, growth tries one machine at a time until
    one request is Ready."""
    failures: Count = 1
    """Failures in a row. Each one doubles the wait."""

    def holds(self, moment: datetime) -> bool:
        """Whether growth doesn't try it yet, up to and including `until` itself."""
        return moment <= self.until


class LearntAllocatable(Model):
    """The resources that nodes of a type really have for pods."""

    server_type: ServerType
    """The server type."""
    resources: Annotated[Mapping[str, Quantity], Field(max_length=32)]
    """Allocatable resources of the smallest node so far."""


class UnplacedPod(Model):
    """A pod for which the last plan had no place."""

    pod: PodReference
    """The pod."""
    reason: Sentence
    """Why it has no place, and what would help."""
    tries: Count = 0
    """Number of plans in a row without a place for it."""
    next_try: Timestamp | None = None
    """When it is planned again, unless something changes earlier."""


class UnservedShape(Model):
    """A kind of pod that didn't run on the machine bought for it, and when to buy one again."""

    owner: Identifier
    """The workload, as kind/namespace/name."""
    shape: Annotated[str, Field(max_length=64)]
    """Hash of the pods' requests."""
    offering: Annotated[str, Field(max_length=127)]
    """What was bought in vain, such as hetzner-cax11."""
    until: Timestamp
    """When growth may buy it for these pods again."""


class KeptNode(Model):
    """A node that is kept for a reason other than its pods."""

    node: Identifier
    """The node."""
    reason: Word
    """Why it is kept: RemovalFailed, Leaving, Held, Retained, Promised, Cordoned, DoNotDisrupt,
    Paused, InPlaceOf, Starting, ScalingPolicy, PoolMinimum, PaidHour or Idle."""
    owner: Annotated[str, Field(max_length=512)]
    """Who or what can change that."""
    until: Timestamp | None = None
    """When the reason ends by itself, if known."""


class NodesForReason(Model):
    """How many nodes are kept for one reason."""

    reason: Word
    """Occupied for nodes whose pods can be moved; otherwise as in `kept`."""
    nodes: Count
    """Number of nodes."""


class CurrencyCost(Model):
    """The cost of machines that are paid in one currency."""

    currency: Currency
    """The currency. Empty for machines whose provider doesn't name one."""
    hourly_cost: Money
    """Cost of these machines per hour."""


class NodePoolStatus(Model):
    """The current state of the pool."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status describes."""
    nodes: Count = 0
    """Nodes that have joined."""
    selector: Annotated[str, Field(max_length=128)] = ""
    """The label selector of the pool's nodes, for the scale subresource. Only set with the policy
    Desired."""
    ready: Count = 0
    """Nodes that serve."""
    wanted: Count = 0
    """Nodes that serve, or will serve when all requests are fulfilled."""
    hourly_cost: Money = Decimal(0)
    """Cost of the pool's machines per hour, in `currency`."""
    currency: Currency = ""
    """The currency of the pool's prices. Empty if its provider doesn't name one."""
    other_costs: Annotated[tuple[CurrencyCost, ...], Field(max_length=16), ListMap("currency")] = ()
    """Cost of machines that were bought in other currencies. growth doesn't add it to
    `hourlyCost`."""
    server_types: Annotated[
        tuple[ServerTypeCount, ...], Field(max_length=256), ListMap("name")
    ] = ()
    """The same for each server type."""
    blocked: Blockage | None = None
    """Why the pool buys nothing until a person changes something."""
    paused_until: Timestamp | None = None
    """When the pool's pause ends; unset where the condition Paused isn't True, or where the time
    that was written can't be read, so that the pause has no end."""
    unmet_offers: Annotated[
        tuple[UnmetOffer, ...], Field(max_length=512), ListMap("serverType", "location")
    ] = ()
    """What the provider recently had none of."""
    learnt_allocatable: Annotated[
        tuple[LearntAllocatable, ...], Field(max_length=256), ListMap("serverType")
    ] = ()
    """The resources that nodes really have for pods. Plans use these instead of the catalogue's."""
    unplaced: Annotated[tuple[UnplacedPod, ...], Field(max_length=50), Atomic()] = ()
    """Pods for which the last plan had no place, the most urgent first."""
    unserved: Annotated[tuple[UnservedShape, ...], Field(max_length=100), Atomic()] = ()
    """Pods for which a machine was bought in vain."""
    nodes_by_reason: Annotated[
        tuple[NodesForReason, ...], Field(max_length=32), ListMap("reason")
    ] = ()
    """How many nodes are kept for each reason. Each node has one reason."""
    kept: Annotated[tuple[KeptNode, ...], Field(max_length=MOST_KEPT), Atomic()] = ()
    """Why nodes are kept, until when, and who can change that, ordered by reason and name. Occupied
    nodes are only counted in `nodesByReason`, because their pods change often; `growth explain
    node` shows them."""
    scaling: ScalingStatus | None = None
    """What the pool's scaling policy has decided. Unset for the policy Demand."""
    observed: ObservedStatus | None = None
    """What growth would have done for the pool. Unset if it has never been observed only."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, as kstatus defines them."""

    @property
    def verdict(self) -> ObjectVerdict:
        """The pool's state, by its counts."""
        if self.blocked is not None:
            return self.blocked.verdict
        if self.ready < self.wanted:
            message = f"{self.ready} of {self.wanted} nodes are ready."
            return ObjectVerdict(ObjectStanding.IN_PROGRESS, "Provisioning", message)
        message = f"All {self.ready} nodes are ready."
        return ObjectVerdict(ObjectStanding.CURRENT, "AllServe", message)
