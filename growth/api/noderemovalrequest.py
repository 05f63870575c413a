"""NodeRemovalRequest: one machine that is given back, until the provider confirms it is gone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field

from growth.api.bounds import Count, Identifier, ObjectName, PoolName
from growth.api.conditions import Conditions, ObjectStanding, ObjectVerdict
from growth.api.events import Events
from growth.api.meta import CustomResource, PrinterColumn
from growth.api.model import Model
from growth.api.removal_reason import RemovalReason
from growth.api.rule_patterns import never_changes
from growth.api.rules import AnyRule, Rule, RuleBreach
from growth.api.written import Timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable


def _other_name(removal: NodeRemovalRequest) -> Iterable[RuleBreach]:
    if removal.metadata.name != removal.spec.node_name:
        yield RuleBreach(at=("metadata", "name"), words={"node": removal.spec.node_name})


NAME: Final = Rule(
    cel="self.metadata.name == self.spec.nodeName",
    text=(
        "metadata.name must be spec.nodeName ({node}), so that no machine is given back by two "
        "requests"
    ),
    words={"node": "self.spec.nodeName"},
    breaches=_other_name,
)

IMMUTABLE: Final = never_changes(
    "spec",
    text=(
        "spec can't be changed, as a delete may have been asked already: delete this object to "
        "cancel the removal, and create another"
    ),
)


class NodeRemovalRequestSpec(Model):
    """Which machine goes, and why."""

    pool: PoolName
    """The pool that the machine belongs to, and that owns this request."""
    node_name: ObjectName
    """Name of machine and node."""
    node_id: Annotated[Identifier, Field(alias="nodeID")]
    """The provider's id of the machine, from the provider's own list: nothing else is ever
    deleted."""
    request_uid: Annotated[Identifier, Field(alias="requestUID")]
    """Uid of the NodeRequest that it was bought by, from the provider's own list."""
    reason: RemovalReason
    """Idle, NeverJoined, CreateFailed and Orphan are cancelled if pods turn up; Consolidation,
    Drift, Unhealthy, PoolDeleted and Surplus drain the node first."""


class RemovalPhase(StrEnum):
    """Where a removal stands."""

    PENDING = "Pending"
    DEPROVISIONING = "Deprovisioning"
    REMOVAL_FAILED = "RemovalFailed"


def _seed_spelling(phase: object) -> object:
    return RemovalPhase.REMOVAL_FAILED if phase == "CouldNotRemove" else phase


VERDICTS: Final = {
    RemovalPhase.PENDING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Pending",
        "The provider is asked as soon as the node has no pods.",
    ),
    RemovalPhase.DEPROVISIONING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Deprovisioning",
        "The provider was asked to delete the machine.",
    ),
    RemovalPhase.REMOVAL_FAILED: ObjectVerdict(
        ObjectStanding.FAILED,
        "RemovalFailed",
        "The machine may still cost money: look at it, then delete this object.",
    ),
}


class NodeRemovalRequestStatus(Model):
    """How far the removal has come."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status is about."""
    phase: Annotated[RemovalPhase, BeforeValidator(_seed_spelling)] = RemovalPhase.PENDING
    """Pending, Deprovisioning (the provider was asked), RemovalFailed (a person has to look;
    deleting the object tries again)."""
    events: Events = ()
    """What happened, the first and the newest 30."""
    removal_attempt: Count = 0
    """How often the provider was asked to delete the machine."""
    remove_attempted_at: Timestamp | None = None
    """When it was asked last."""
    last_transition_time: Timestamp | None = None
    """When the phase began."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, after kstatus."""

    @property
    def verdict(self) -> ObjectVerdict:
        """Where the object stands, by its phase."""
        return VERDICTS[self.phase]


class NodeRemovalRequest(CustomResource):
    """One machine that is given back; it disappears when the machine is gone."""

    rules: ClassVar[tuple[AnyRule, ...]] = (NAME, IMMUTABLE)
    kind_names: ClassVar[tuple[str, str, str]] = (
        "noderemovalrequests",
        "noderemovalrequest",
        "nrr",
    )
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Pool", "string", ".spec.pool"),
        PrinterColumn("Phase", "string", ".status.phase"),
        PrinterColumn("Reason", "string", ".spec.reason"),
        PrinterColumn("Attempts", "integer", ".status.removalAttempt"),
        PrinterColumn("Tried", "date", ".status.removeAttemptedAt"),
    )

    kind: Literal["NodeRemovalRequest"] = "NodeRemovalRequest"
    """NodeRemovalRequest."""
    spec: NodeRemovalRequestSpec
    """Which machine goes, and why; never changed."""
    status: NodeRemovalRequestStatus = NodeRemovalRequestStatus()
    """How far the removal has come; written by growth."""
