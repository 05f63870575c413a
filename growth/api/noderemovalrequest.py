"""NodeRemovalRequest: one machine that growth gives back, until the provider confirms its end."""

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
        "metadata.name must be spec.nodeName ({node}), so that no two requests remove the same "
        "machine"
    ),
    words={"node": "self.spec.nodeName"},
    breaches=_other_name,
)

IMMUTABLE: Final = never_changes(
    "spec",
    text="spec is immutable: delete this object to cancel the removal, and create another",
)


class NodeRemovalRequestSpec(Model):
    """Which machine growth gives back, and why."""

    pool: PoolName
    """The pool of the machine, which owns this object."""
    node_name: ObjectName
    """Name of the machine and the node."""
    node_id: Annotated[Identifier, Field(alias="nodeID")]
    """The provider's ID of the machine, from the provider's own list. growth deletes only this
    machine."""
    request_uid: Annotated[Identifier, Field(alias="requestUID")]
    """UID of the NodeRequest that bought the machine, from the provider's own list."""
    reason: RemovalReason
    """Idle, NeverJoined, CreateFailed and Orphan are cancelled if pods arrive; Consolidation,
    Drift, Unhealthy, PoolDeleted and Surplus drain the node first."""


class RemovalPhase(StrEnum):
    """The state of a removal."""

    PENDING = "Pending"
    DEPROVISIONING = "Deprovisioning"
    REMOVAL_FAILED = "RemovalFailed"


def _seed_spelling(phase: object) -> object:
    return RemovalPhase.REMOVAL_FAILED if phase == "CouldNotRemove" else phase


VERDICTS: Final = {
    RemovalPhase.PENDING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Pending",
        "The provider is asked to delete the machine as soon as the node has no pods.",
    ),
    RemovalPhase.DEPROVISIONING: ObjectVerdict(
        ObjectStanding.IN_PROGRESS,
        "Deprovisioning",
        "The provider was asked to delete the machine.",
    ),
    RemovalPhase.REMOVAL_FAILED: ObjectVerdict(
        ObjectStanding.FAILED,
        "RemovalFailed",
        "The machine may still cost money: check it at the provider, then delete this object.",
    ),
}


class NodeRemovalRequestStatus(Model):
    """The progress of the removal."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status describes."""
    phase: Annotated[RemovalPhase, BeforeValidator(_seed_spelling)] = RemovalPhase.PENDING
    """Pending, Deprovisioning (the provider was asked), RemovalFailed (needs a person; delete the
    object to try again)."""
    events: Events = ()
    """What happened: the first event and the latest 30."""
    removal_attempt: Count = 0
    """How often growth asked the provider to delete the machine."""
    remove_attempted_at: Timestamp | None = None
    """When growth asked last."""
    last_transition_time: Timestamp | None = None
    """When the phase began."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, as kstatus defines them."""

    @property
    def verdict(self) -> ObjectVerdict:
        """The object's state, by its phase."""
        return VERDICTS[self.phase]


class NodeRemovalRequest(CustomResource):
    """One machine that growth gives back. The object is deleted when the machine is gone."""

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
    """Which machine growth gives back, and why. Immutable."""
    status: NodeRemovalRequestStatus = NodeRemovalRequestStatus()
    """The progress of the removal, written by growth."""
