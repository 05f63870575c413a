"""NodeRequest: one machine that growth buys, written before it asks the provider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, Strict

from growth.api.bounds import Atomic, Currency, Identifier, Labels, Place, PoolName
from growth.api.conditions import Conditions, ObjectStanding, ObjectVerdict
from growth.api.events import Events
from growth.api.meta import CustomResource, PodReference, PrinterColumn
from growth.api.model import Model
from growth.api.rule_patterns import never_changes
from growth.api.rules import AnyRule, Rule, RuleBreach
from growth.api.written import Money, Quantity, ServerType, Timestamp


def _foreign_name(request: NodeRequest) -> Iterable[RuleBreach]:
    name = request.metadata.name
    if len(name) > 63 or not name.startswith(f"{request.spec.pool}-"):
        yield RuleBreach(at=("metadata", "name"), words={"pool": request.spec.pool})


NAME: Final = Rule(
    cel="self.metadata.name.size() <= 63 && self.metadata.name.startsWith(self.spec.pool + '-')",
    text=(
        "metadata.name must be {pool}-<uuid>, of at most 63 characters: request, machine and node "
        "share it"
    ),
    words={"pool": "self.spec.pool"},
    breaches=_foreign_name,
)

IMMUTABLE: Final = never_changes(
    "spec",
    text="spec is immutable: delete the request, and growth plans its pods again",
)


class PlannedWorkload(Model):
    """A number of pods of one workload, which are interchangeable."""

    kind: Annotated[str, Field(min_length=1, max_length=63)]
    """Kind of the workload, such as Deployment; Pod for a pod without a controller."""
    namespace: Annotated[str, Field(max_length=63)]
    """Namespace of the workload."""
    name: Identifier
    """Name of the workload."""
    pods: Annotated[int, Strict(), Field(ge=1, le=100_000)]
    """How many of its pods will run on the machine, including announced ones."""
    requests: Annotated[Mapping[str, Quantity], Field(max_length=32)] = Field(default_factory=dict)
    """Resource requests of each pod."""


class NodeRequestSpec(Model):
    """What growth buys, and for which pods."""

    pool: PoolName
    """The pool of the machine, which owns the request."""
    target_offering: Annotated[
        str, Field(max_length=127, pattern="^[a-z0-9]([-._a-z0-9]*[a-z0-9])?$")
    ]
    """Provider and type in lower case, such as hetzner-cax11."""
    server_type: ServerType
    """The provider's name of the type."""
    location: Place
    """The location of the machine."""
    labels: Labels = Field(default_factory=dict)
    """Labels of the offer, if a type has several offers in one location (such as spot and on
    demand)."""
    price: Money
    """Price per hour at the time of planning."""
    currency: Currency = ""
    """Currency of the price, such as EUR. Empty if the provider doesn't say."""
    resources: Annotated[Mapping[str, Quantity], Field(max_length=32)] = Field(default_factory=dict)
    """Resources for pods that the plan expected."""
    pods: Annotated[tuple[PodReference, ...], Field(max_length=256), Atomic()] = ()
    """The pods that it was planned for. If there are more, the first by name."""
    workloads: Annotated[tuple[PlannedWorkload, ...], Field(max_length=256), Atomic()] = ()
    """How many pods of each workload it was planned for. If there are more workloads, the first by
    name."""


class RequestPhase(StrEnum):
    """The state of a purchase."""

    PENDING = "Pending"
    PROVISIONING = "Provisioning"
    READY = "Ready"
    UNMET = "Unmet"
    DEPROVISIONING = "Deprovisioning"


COMING: Final = frozenset({RequestPhase.PENDING, RequestPhase.PROVISIONING})
"""The phases of a purchase whose node is still to come."""
FAILED: Final = frozenset({RequestPhase.UNMET, RequestPhase.DEPROVISIONING})
"""The phases of a purchase that has brought no node."""


class UnmetScope(StrEnum):
    """What a refusal covers."""

    OFFER = "Offer"
    LOCATION = "Location"
    PROJECT = "Project"


VERDICTS: Final = {
    RequestPhase.PENDING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS, "Pending", "The provider is about to be asked."
    ),
    RequestPhase.PROVISIONING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Provisioning",
        "The provider has accepted the request; the node hasn't joined yet.",
    ),
    RequestPhase.READY: ObjectVerdict(ObjectStanding.CURRENT, "NodeReady", "The node is ready."),
    RequestPhase.UNMET: ObjectVerdict(
        ObjectStanding.FAILED,
        "Unmet",
        "The provider is sold out; the pods are planned without this offer.",
    ),
    RequestPhase.DEPROVISIONING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Deprovisioning",
        "The node never became ready; its machine is being removed.",
    ),
}


class NodeRequestStatus(Model):
    """The progress of the purchase."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status describes."""
    phase: RequestPhase = RequestPhase.PENDING
    """Pending, Provisioning (the provider has accepted), Ready (the node serves), Unmet (the
    provider has none), Deprovisioning (the machine never served and is given back)."""
    events: Events = ()
    """What happened: the first event and the latest 30."""
    node_id: Annotated[Identifier | None, Field(alias="nodeID")] = None
    """The provider's ID of the machine, once known."""
    node_name: Annotated[str, Field(max_length=253)] | None = None
    """Name of the node, once it has joined."""
    last_transition_time: Timestamp | None = None
    """When the phase began. requestTTL counts from here."""
    accepted_at: Timestamp | None = None
    """When the provider accepted the request. readinessWait counts from here."""
    ready_at: Timestamp | None = None
    """When the node began to serve."""
    unmet_scope: UnmetScope | None = None
    """For an Unmet request: whether the offer, the location or the project was refused."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, as kstatus defines them."""

    @property
    def verdict(self) -> ObjectVerdict:
        """The object's state, by its phase."""
        return VERDICTS[self.phase]


class NodeRequest(CustomResource):
    """One machine that growth buys for pods without a place."""

    rules: ClassVar[tuple[AnyRule, ...]] = (NAME, IMMUTABLE)
    kind_names: ClassVar[tuple[str, str, str]] = ("noderequests", "noderequest", "nr")
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Pool", "string", ".spec.pool"),
        PrinterColumn("Phase", "string", ".status.phase"),
        PrinterColumn("Type", "string", ".spec.serverType"),
        PrinterColumn("Location", "string", ".spec.location"),
        PrinterColumn("PerHour", "string", ".spec.price"),
        PrinterColumn("Node", "string", ".status.nodeName"),
    )

    kind: Literal["NodeRequest"] = "NodeRequest"
    """NodeRequest."""
    spec: NodeRequestSpec
    """What growth buys, and for which pods. Immutable."""
    status: NodeRequestStatus = NodeRequestStatus()
    """The progress of the purchase, written by growth."""

    @property
    def node(self) -> str:
        """The name of its node: the request's own, unless the node has joined under another."""
        return self.status.node_name or self.name
