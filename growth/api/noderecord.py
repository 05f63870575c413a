"""NodeRecord: what growth knows of one machine, from its purchase to its end.

A kubelet can write labels and annotations of its Node, and so can many other programs. Only growth
writes records, so its rules believe the record and not the Node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import Field

from growth.api.bounds import Currency, Flag, Identifier, ObjectName, Place, PoolName, Word
from growth.api.conditions import Conditions, ObjectStanding, ObjectVerdict
from growth.api.meta import CustomResource, PrinterColumn
from growth.api.model import Model
from growth.api.rule_patterns import never_changes
from growth.api.rules import AnyRule, Rule, RuleBreach
from growth.api.written import Money, ServerType, Timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable


def _foreign_name(record: NodeRecord) -> Iterable[RuleBreach]:
    name = record.metadata.name
    if len(name) > 63 or not name.startswith(f"{record.spec.pool}-"):
        yield RuleBreach(at=("metadata", "name"), words={"pool": record.spec.pool})


NAME: Final = Rule(
    cel="self.metadata.name.size() <= 63 && self.metadata.name.startsWith(self.spec.pool + '-')",
    text=(
        "metadata.name must be {pool}-<uuid>, of at most 63 characters: record, machine and node "
        "share it"
    ),
    words={"pool": "self.spec.pool"},
    breaches=_foreign_name,
)

IMMUTABLE: Final = never_changes(
    "spec", text="spec is immutable: it says what the machine was when it was bought"
)

LONGEST_TEMPLATE: Final = 16_384
LONGEST_PLAN: Final = 2048
LONGEST_REPLACES: Final = 32_768
"""The most characters of these texts."""

Template = Annotated[str, Field(max_length=LONGEST_TEMPLATE)]
"""What a machine was created from, part by part (JSON)."""


class MachineClass(Model):
    """The node class of a machine."""

    kind: Identifier
    """Kind of the node class."""
    name: ObjectName
    """Name of the node class."""


class NodeRecordSpec(Model):
    """What is true of a machine as long as it exists."""

    pool: PoolName
    """The pool of the machine."""
    node_class_ref: MachineClass
    """The node class that created the machine."""
    server_type: ServerType
    """The provider's name of the type."""
    location: Place
    """The location of the machine."""
    price: Money
    """Price per hour when it was bought."""
    currency: Currency = ""
    """Currency of the price, such as EUR. Empty if the provider doesn't say."""
    node_id: Annotated[Identifier, Field(alias="nodeID")]
    """The provider's ID of the machine, as its list shows it. The node's spec.providerID ends with
    it."""
    request_uid: Annotated[Identifier, Field(alias="requestUID")]
    """UID of the NodeRequest that bought the machine."""
    bought_at: Timestamp
    """When the provider accepted the purchase. Paid hours count from here."""
    template: Template | None = None
    """What the machine was created from, part by part (JSON): the labels and taints of its pool,
    and the fields of its node class. Missing if growth doesn't know it."""
    plan: Annotated[str, Field(max_length=LONGEST_PLAN)] | None = None
    """Why this type was chosen, and the cost of the next best (JSON)."""
    replaces: Annotated[str, Field(max_length=LONGEST_REPLACES)] | None = None
    """Which nodes it replaces, and why (JSON). Missing for an ordinary purchase."""


class JoinedNode(Model):
    """The Node that a machine has become."""

    name: ObjectName
    """Name of the node."""
    uid: Identifier
    """UID of the node. A node recreated with the same name is another node."""


class NodeRecordStatus(Model):
    """What growth has learned of the machine, or done to its node."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status describes."""
    node: JoinedNode | None = None
    """The node that has joined as this machine."""
    joined_at: Timestamp | None = None
    """When growth first saw that node."""
    goes_at: Timestamp | None = None
    """When the machine is given back, because its node is idle."""
    kept: Word | None = None
    """Why the node is kept, in one word, as in the status of its pool: Occupied, Held, Idle and so
    on. It follows a change after ten seconds or more. Missing while there is no node."""
    cordoned: Annotated[str, Field(max_length=64)] | None = None
    """Why growth has cordoned the node."""
    template: Template | None = None
    """The template with the labels and taints that growth has written to the node since."""
    swap_ended: Flag = False
    """Whether the machine no longer replaces what spec.replaces says."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, as kstatus defines them; Contested while another Node claims
    the machine."""

    @property
    def verdict(self) -> ObjectVerdict:
        """The object's state: whether a node has joined."""
        return COMING if self.node is None else JOINED


CONTESTED: Final = "Contested"
"""The condition of a record whose machine another Node claims, too."""
COMING: Final = ObjectVerdict(
    ObjectStanding.IN_PROGRESS, "NotJoined", "No node has joined as this machine yet."
)
JOINED: Final = ObjectVerdict(ObjectStanding.CURRENT, "Joined", "A node has joined.")


class NodeRecord(CustomResource):
    """What growth knows of one machine. Only growth writes it; it is deleted with the machine."""

    rules: ClassVar[tuple[AnyRule, ...]] = (NAME, IMMUTABLE)
    kind_names: ClassVar[tuple[str, str, str]] = ("noderecords", "noderecord", "nrec")
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Pool", "string", ".spec.pool"),
        PrinterColumn("Type", "string", ".spec.serverType"),
        PrinterColumn("Location", "string", ".spec.location"),
        PrinterColumn("PerHour", "string", ".spec.price"),
        PrinterColumn("Bought", "date", ".spec.boughtAt"),
        PrinterColumn("Node", "string", ".status.node.name"),
        PrinterColumn("Kept", "string", ".status.kept"),
        PrinterColumn("Goes", "string", ".status.goesAt"),
    )

    kind: Literal["NodeRecord"] = "NodeRecord"
    """NodeRecord."""
    spec: NodeRecordSpec
    """What is true of the machine as long as it exists. Immutable."""
    status: NodeRecordStatus = NodeRecordStatus()
    """What growth has learned of the machine, or done to its node, written by growth."""
