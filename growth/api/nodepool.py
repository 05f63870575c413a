"""NodePool: which machines may be bought, how many, and how carefully they are given back."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from growth.api import nodepool_rules
from growth.api.bounds import (
    Count,
    LabelKey,
    Labels,
    LabelValue,
    ListMap,
    ListSet,
    MergedBy,
    ObjectName,
    Place,
)
from growth.api.disruption import Disruption
from growth.api.meta import CustomResource, PrinterColumn
from growth.api.model import Model
from growth.api.nodepool_status import NodePoolStatus
from growth.api.rules import AnyRule
from growth.api.written import (
    Duration,
    Money,
    Quantity,
    ServerType,
    between,
)


class PoolServerType(Model):
    """A server type that the pool may buy, and how many of it."""

    rules: ClassVar[tuple[AnyRule, ...]] = (nodepool_rules.MIN_AT_MOST_MAX,)

    name: ServerType
    """The provider's name of the type; upper or lower case doesn't matter."""
    min: Count = 0
    """Machines of this type that are kept even without load."""
    max: Count
    """Machines of this type that are never exceeded, counting those that are on their way."""


class PoolLocation(Model):
    """A region that the pool may buy in."""

    region: Place
    """The provider's region; at Hetzner the location, such as nbg1."""
    zones: Annotated[tuple[Place, ...], Field(max_length=32), ListSet()] = ()
    """Zones of the region; empty means all of them."""


class TaintEffect(StrEnum):
    """What a taint does to pods that don't tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class PoolTaint(Model):
    """A taint as nodes have it."""

    key: LabelKey
    """Key of the taint."""
    value: LabelValue = ""
    """Value of the taint."""
    effect: TaintEffect
    """What it does to pods that don't tolerate it."""


Taints = Annotated[tuple[PoolTaint, ...], Field(max_length=32), ListMap("key", "effect")]


class NodeClassKind(StrEnum):
    """The kinds of node classes, one a provider."""

    HETZNER = "HetznerNodeClass"
    KWOK = "KwokNodeClass"


class NodeClassReference(Model):
    """The node class that tells how machines are made."""

    kind: NodeClassKind
    """HetznerNodeClass or KwokNodeClass."""
    name: ObjectName
    """Name of the node class."""


class Placement(StrEnum):
    """How pods that name no pool are drawn to the pool `default`."""

    REQUIRE = "Require"
    PREFER = "Prefer"
    ALLOW = "Allow"


class PoolLimits(Model):
    """Brakes of the whole pool; what isn't set isn't limited here."""

    nodes: Count | None = None
    """Machines of the pool, counting those that are on their way."""
    cpu: Quantity | None = None
    """Sum of the machines' CPU."""
    memory: Quantity | None = None
    """Sum of the machines' memory."""
    hourly_cost: Money | None = None
    """What the pool may cost an hour, in its provider's currency; where its prices are in several,
    in each by itself."""
    nodes_per_hour: Annotated[Count, Field(ge=1)] | None = None
    """Machines that may be bought within any hour."""


class RequestTTL(Model):
    """How long finished requests are kept."""

    ready: Annotated[Duration, between("1s", "24h")] = Duration.parse("10m")
    """A request whose node serves; only the request goes, the node stays."""
    unmet: Annotated[Duration, between("1s", "24h")] = Duration.parse("5m")
    """A request that the provider had no machine for; as long, its offer isn't tried again. It
    doubles with each failure in a row, up to 30m (or this value if that is longer)."""


class RemovalOrder(StrEnum):
    """Which idle node goes first."""

    OLDEST = "Oldest"
    NOT_READY_OLDEST_LEAST_USED = "NotReadyOldestLeastUsed"


class PaidHour(StrEnum):
    """Whether an hour that is paid already is used to its end."""

    USE = "Use"
    IGNORE = "Ignore"


class ScaleDown(Model):
    """When and how idle nodes are given back."""

    idle_after: Annotated[Duration, between("0s", "168h")] = Duration.parse("60s")
    """From the moment a node is marked to its removal, if no pod has come by then."""
    retry_after: Annotated[Duration, between("1s", "24h")] = Duration.parse("30s")
    """Between two attempts to delete a machine."""
    attempts: Annotated[Count, Field(ge=1, le=1000)] = 5
    """After more attempts than this the removal ends as RemovalFailed and a person has to look."""
    order: RemovalOrder = RemovalOrder.OLDEST
    """Which idle node goes first."""
    paid_hour: PaidHour | None = None
    """Use keeps an idle node until shortly before its next hour begins. Unset: Use at Hetzner,
    Ignore for KWOK unless its class says `billing: Hourly`."""


class DeletionPolicy(StrEnum):
    """What becomes of the machines of a deleted pool."""

    DRAIN = "Drain"
    RETAIN = "Retain"


class Scaling(Model):
    """What decides how many machines the pool has."""

    policy: Literal["demand"] = "demand"
    """demand buys what pending pods need and gives back what is idle."""


class NodePoolSpec(Model):
    """Which machines may be bought, how many, and how carefully they are given back."""

    rules: ClassVar[tuple[AnyRule, ...]] = nodepool_rules.SPEC

    server_types: Annotated[
        tuple[PoolServerType, ...], Field(min_length=1, max_length=256), MergedBy("name")
    ]
    """The types that may be bought; nothing else ever is."""
    locations: Annotated[tuple[PoolLocation, ...], Field(max_length=64), MergedBy("region")] = ()
    """Where they may be bought; empty means everywhere."""
    labels: Labels = Field(default_factory=dict)
    """Labels of the pool's nodes."""
    taints: Taints = ()
    """Taints of the pool's nodes; the webhook makes the pool's own pods tolerate them."""
    startup_taints: Taints = ()
    """Taints of new nodes that somebody else takes off when the node is prepared."""
    node_class_ref: NodeClassReference | None = None
    """How machines are made. Unset: the node class called `default`, of whichever kind exists."""
    placement: Placement = Placement.PREFER
    """How pods that name no pool are drawn here if this is the pool `default`: Require binds
    them to it, Prefer lets nodes that exist already serve them too, Allow only tolerates its
    taints."""
    limits: PoolLimits = PoolLimits()
    """Brakes of the whole pool."""
    weight: Annotated[Count, Field(le=100)] = 0
    """Of several pools that a pod may use, the heaviest is planned first; equal ones together."""
    readiness_wait: Annotated[Duration, between("1s", "24h")] = Duration.parse("10m")
    """How long a machine may take until its node is Ready; then it is given back."""
    request_ttl: RequestTTL = Field(RequestTTL(), alias="requestTTL")
    """How long finished requests are kept."""
    scale_down: ScaleDown = ScaleDown()
    """When and how idle nodes are given back."""
    disruption: Disruption = Disruption()
    """What may be done to nodes that are in use."""
    deletion_policy: DeletionPolicy = DeletionPolicy.DRAIN
    """What becomes of the machines when the pool is deleted: Drain gives them back, Retain
    leaves the nodes without our taints and finalizers."""
    scaling: Scaling = Scaling()
    """What decides how many machines the pool has."""


class NodePool(CustomResource):
    """Machines that may be bought for pods that ask for this pool; `default` serves the rest."""

    rules: ClassVar[tuple[AnyRule, ...]] = (nodepool_rules.POOL_NAME,)
    kind_names: ClassVar[tuple[str, str, str]] = ("nodepools", "nodepool", "np")
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Nodes", "integer", ".status.ready"),
        PrinterColumn("Wanted", "integer", ".status.wanted"),
        PrinterColumn("PerHour", "string", ".status.hourlyCost"),
    )

    kind: Literal["NodePool"] = "NodePool"
    """NodePool."""
    spec: NodePoolSpec
    """What the pool may be."""
    status: NodePoolStatus = NodePoolStatus()
    """What the pool is; written by growth."""
