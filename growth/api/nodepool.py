"""NodePool: which machines growth may buy, how many, and how it gives them back."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from growth.api import nodepool_rules
from growth.api.bounds import (
    Count,
    Labels,
    ListSet,
    MergedBy,
    ObjectName,
    Place,
)
from growth.api.disruption import Disruption
from growth.api.meta import CustomResource, PrinterColumn, ScalePaths
from growth.api.model import Model
from growth.api.nodepool_status import NodePoolStatus
from growth.api.rules import AnyRule
from growth.api.scaling import Scaling
from growth.api.taints import Taints
from growth.api.written import (
    Duration,
    Money,
    Quantity,
    ServerType,
    between,
)


class PoolServerType(Model):
    """A server type that the pool may buy, and how many machines of it."""

    rules: ClassVar[tuple[AnyRule, ...]] = (nodepool_rules.MIN_AT_MOST_MAX,)

    name: ServerType
    """The provider's name of the type. Case doesn't matter."""
    min: Count = 0
    """Minimum number of machines of this type, kept even without load."""
    max: Count
    """Maximum number of machines of this type, including those on their way."""


class PoolLocation(Model):
    """A region that the pool may buy in."""

    region: Place
    """The provider's region. At Hetzner, the location, such as nbg1."""
    zones: Annotated[tuple[Place, ...], Field(max_length=32), ListSet()] = ()
    """Zones of the region. Empty means all of them."""


class NodeClassKind(StrEnum):
    """The kinds of node classes, one per provider."""

    HETZNER = "HetznerNodeClass"
    KWOK = "KwokNodeClass"


class NodeClassReference(Model):
    """A reference to a node class."""

    kind: NodeClassKind
    """HetznerNodeClass or KwokNodeClass."""
    name: ObjectName
    """Name of the node class."""


class Placement(StrEnum):
    """How pods that don't name a pool are directed to the pool `default`."""

    REQUIRE = "Require"
    PREFER = "Prefer"
    ALLOW = "Allow"


class PoolLimits(Model):
    """Limits of the whole pool. What isn't set isn't limited."""

    nodes: Count | None = None
    """Maximum number of machines, including those on their way."""
    cpu: Quantity | None = None
    """Maximum CPU of all machines together."""
    memory: Quantity | None = None
    """Maximum memory of all machines together."""
    hourly_cost: Money | None = None
    """Maximum cost of the pool per hour, in its provider's currency. If its prices are in several
    currencies, the maximum applies to each of them."""
    nodes_per_hour: Annotated[Count, Field(ge=1)] | None = None
    """Maximum number of machines bought within any hour."""


class RequestTTL(Model):
    """How long finished requests are kept."""

    ready: Annotated[Duration, between("1s", "24h")] = Duration.parse("10m")
    """For a request whose node serves. Only the request is deleted; the node stays."""
    unmet: Annotated[Duration, between("1s", "24h")] = Duration.parse("5m")
    """For a request for which the provider had no machine. Its offer isn't tried again during this
    time, which doubles with each failure in a row, up to 30m (or this value if that is longer)."""


class RemovalOrder(StrEnum):
    """Which idle node goes first."""

    OLDEST = "Oldest"
    NOT_READY_OLDEST_LEAST_USED = "NotReadyOldestLeastUsed"


class PaidHour(StrEnum):
    """Whether an hour that is already paid for is used to its end."""

    USE = "Use"
    IGNORE = "Ignore"


class ScaleDown(Model):
    """When and how idle nodes are given back."""

    idle_after: Annotated[Duration, between("0s", "168h")] = Duration.parse("60s")
    """Time from marking an idle node to its removal, if no pod arrives by then."""
    retry_after: Annotated[Duration, between("1s", "24h")] = Duration.parse("30s")
    """Time between two attempts to delete a machine."""
    attempts: Annotated[Count, Field(ge=1, le=1000)] = 5
    """After more attempts than this, the removal ends as RemovalFailed and needs a person."""
    order: RemovalOrder = RemovalOrder.OLDEST
    """Which idle node goes first."""
    paid_hour: PaidHour | None = None
    """Use keeps an idle node until shortly before its next hour begins; Ignore doesn't. Default:
    Use at Hetzner, Ignore for KWOK unless its class has `billing: Hourly`."""


class DeletionPolicy(StrEnum):
    """What happens to the machines of a deleted pool."""

    DRAIN = "Drain"
    RETAIN = "Retain"


OBSERVING: Final = "Observing"
"""The condition of a pool for which growth doesn't act, by its own mode or the installation's."""


class PoolMode(StrEnum):
    """Whether growth acts for a pool."""

    ACT = "Act"
    OBSERVE = "Observe"


class NodePoolSpec(Model):
    """Which machines growth may buy, how many, and how it gives them back."""

    rules: ClassVar[tuple[AnyRule, ...]] = nodepool_rules.SPEC

    server_types: Annotated[
        tuple[PoolServerType, ...], Field(min_length=1, max_length=256), MergedBy("name")
    ]
    """The server types that may be bought. growth buys no others."""
    locations: Annotated[tuple[PoolLocation, ...], Field(max_length=64), MergedBy("region")] = ()
    """Where they may be bought. Empty means everywhere."""
    labels: Labels = Field(default_factory=dict)
    """Labels of the pool's nodes."""
    taints: Taints = ()
    """Taints of the pool's nodes. Admission adds tolerations to pods that name the pool."""
    startup_taints: Taints = ()
    """Taints of new nodes that another program removes when it has prepared the node."""
    node_class_ref: NodeClassReference | None = None
    """The node class that says how machines are created. Default: the class called `default`, of
    whichever kind exists."""
    placement: Placement = Placement.PREFER
    """How pods that don't name a pool are directed to the pool `default`: Require restricts them to
    it, Prefer also allows nodes that already exist, Allow only adds tolerations for its taints."""
    limits: PoolLimits = PoolLimits()
    """Limits of the whole pool."""
    weight: Annotated[Count, Field(le=100)] = 0
    """If a pod may use several pools, those with the highest weight are planned first; pools with
    the same weight are planned together."""
    readiness_wait: Annotated[Duration, between("1s", "24h")] = Duration.parse("10m")
    """How long a machine may take until its node is Ready. After that, it is given back."""
    request_ttl: RequestTTL = Field(RequestTTL(), alias="requestTTL")
    """How long finished requests are kept."""
    scale_down: ScaleDown = ScaleDown()
    """When and how idle nodes are given back."""
    disruption: Disruption = Disruption()
    """When nodes in use may be replaced, and how many at a time."""
    deletion_policy: DeletionPolicy = DeletionPolicy.DRAIN
    """What happens to the machines when the pool is deleted: Drain moves their pods and gives them
    back, Retain leaves the nodes, without growth's taints and finalizers."""
    scaling: Scaling = Scaling()
    """What decides how many machines the pool has."""
    mode: PoolMode = PoolMode.ACT
    """Act: buy machines and give them back. Observe: only decide and report what growth would do;
    nothing is bought or given back, and pods are admitted unchanged."""


class NodePool(CustomResource):
    """Machines for the pods that name this pool; the pool `default` is for all other pods."""

    rules: ClassVar[tuple[AnyRule, ...]] = (nodepool_rules.POOL_NAME,)
    kind_names: ClassVar[tuple[str, str, str]] = ("nodepools", "nodepool", "np")
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Nodes", "integer", ".status.ready"),
        PrinterColumn("Wanted", "integer", ".status.wanted"),
        PrinterColumn("PerHour", "string", ".status.hourlyCost"),
    )

    scale: ClassVar[ScalePaths | None] = ScalePaths(
        wanted=".spec.scaling.desired.desiredNodes",
        present=".status.nodes",
        selector=".status.selector",
    )

    kind: Literal["NodePool"] = "NodePool"
    """NodePool."""
    spec: NodePoolSpec
    """The desired behaviour of the pool."""
    status: NodePoolStatus = NodePoolStatus()
    """The current state of the pool, written by growth."""
