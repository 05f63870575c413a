"""What growth asks of a cloud: four questions, and closed sets of answers.

A provider never decides and never waits: `create` asks and returns, whether the machine has come is
seen in later listings. `create` is idempotent by name: what is found under it, with our cluster's
label and the request's uid, is adopted.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, Protocol, assert_never

import msgspec

from growth.api.noderequest import UnmetScope
from growth.api.written import ServerTypeName
from growth.instant import Instant
from growth.scheduling.resources import Resources
from growth.scheduling.taints import Taint


class ClassKey(NamedTuple):
    """A node class by kind and name."""

    kind: str
    name: str


class SharedNetwork(msgspec.Struct, frozen=True, kw_only=True):
    """What machines of several offers share, and what has an end: a private network."""

    name: str
    """Unlike that of every other room of every cloud."""
    most: int
    """Machines that find a place in it."""
    taken: frozenset[str]
    """Ids of those that had one when it was looked at; others than ours count too."""


class Offering(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that can be bought, in one place, at one price."""

    provider: str
    server_type: ServerTypeName
    location: str
    price: Decimal
    """What an hour costs."""
    currency: str = ""
    """What all of its prices are in, such as EUR; empty where the provider doesn't say. Prices are
    compared and added up within one currency only."""
    monthly_cap: Decimal | None = None
    """The most that it costs in a calendar month; None means that hours are all that counts."""
    allocatable: Resources
    """What is left for pods, before DaemonSets."""
    labels: Mapping[str, str] = {}
    """Labels that its node will carry: architecture, type, place, and those of the offer."""
    own_labels: Mapping[str, str] = {}
    """Those of the offer alone, which tell two offers of one type in one place apart."""
    available: int | None = None
    """Machines that can be had of it; None means nobody knows a limit."""
    rooms: tuple[SharedNetwork, ...] = ()
    """What its machines take a place in, together with those of other offers."""
    doubts: int = 0
    """How little the provider says for it: equal offers are bought in this order."""

    @property
    def name(self) -> str:
        """As NodeRequests write it: hetzner-cax11."""
        return f"{self.provider}-{self.server_type.canonical}"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One machine, to be made under this name and no other."""

    name: str
    request_uid: str
    pool: str
    node_class: ClassKey
    server_type: ServerTypeName
    location: str
    own_labels: Mapping[str, str]
    labels: Mapping[str, str]
    """Labels of the node."""
    annotations: Mapping[str, str]
    """Annotations of the node, where the provider can set them from the start."""
    taints: tuple[Taint, ...]
    """Taints that the node has from its first second."""
    intended_at: datetime | None = None
    """When the intent was written down: a listing that is younger knows what became of it. None
    means just now."""


class FailureClass(StrEnum):
    """Why a machine can't be made, by what is to be done."""

    TRANSIENT = "Transient"
    """Ask again soon."""
    TEMPLATE = "Template"
    """The pool or its node class is wrong: nothing is asked until it changes."""
    FATAL = "Fatal"
    """The provider can't be used at all: token, permissions."""


class ProviderTrouble(StrEnum):
    """What a cloud's refusal means: every provider sorts what it is told into these."""

    STOCKOUT = "Stockout"
    """None of this type can be had in this place."""
    LOCATION_DOWN = "LocationDown"
    """Nothing can be had in this place."""
    QUOTA = "Quota"
    """The account may not have more."""
    THROTTLED = "Throttled"
    """Too many calls."""
    TRANSIENT = "Transient"
    """Nobody knows whether it was done: ask again under the same name."""
    TEMPLATE = "Template"
    """What was asked for can't be had by anyone."""
    FATAL = "Fatal"
    """We may not ask at all."""


SCOPES: Mapping[ProviderTrouble, UnmetScope] = {
    ProviderTrouble.STOCKOUT: UnmetScope.OFFER,
    ProviderTrouble.LOCATION_DOWN: UnmetScope.LOCATION,
    ProviderTrouble.QUOTA: UnmetScope.PROJECT,
}


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The machine is being made, or was there already."""

    machine_id: str


class Unmet(msgspec.Struct, frozen=True, kw_only=True):
    """The provider has none."""

    reason: str
    scope: UnmetScope


class Throttled(msgspec.Struct, frozen=True, kw_only=True):
    """Too many calls; nothing was made."""

    seconds: float
    """How long the provider asks us to wait."""


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """Not made, or nobody knows: the name tells, as asking again adopts what is there."""

    failure: FailureClass
    reason: str


CreateAnswer = Accepted | Unmet | Throttled | Failed


def refused_create(trouble: ProviderTrouble, *, reason: str, seconds: float = 0.0) -> CreateAnswer:
    """What a create that ran into trouble answers."""
    match trouble:
        case ProviderTrouble.STOCKOUT | ProviderTrouble.LOCATION_DOWN | ProviderTrouble.QUOTA:
            return Unmet(reason=reason, scope=SCOPES[trouble])
        case ProviderTrouble.THROTTLED:
            return Throttled(seconds=seconds)
        case ProviderTrouble.TRANSIENT | ProviderTrouble.TEMPLATE | ProviderTrouble.FATAL:
            return Failed(failure=FailureClass(trouble.value), reason=reason)
        case _:
            assert_never(trouble)


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's last word on one request."""

    at: float
    """The monotonic second at which it came."""
    answer: CreateAnswer


class DeleteOutcome(StrEnum):
    """What a delete came to."""

    ACCEPTED = "Accepted"
    GONE = "Gone"
    FAILED = "Failed"


class DeleteAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's word on a delete."""

    outcome: DeleteOutcome
    reason: str = ""
    seconds: float = 0.0
    """How long to wait before it is asked for again."""


class Occupied(msgspec.Struct, frozen=True, kw_only=True):
    """The provider was not asked: the API server itself shows pods on the node."""

    pods: tuple[str, ...]
    """Namespace/name, the first of them."""


class GivenBack(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the last try to delete a machine."""

    at: float
    """The monotonic second at which it came."""
    answer: DeleteAnswer | Occupied


class MachineState(StrEnum):
    """How far a machine is."""

    CREATING = "Creating"
    RUNNING = "Running"
    FAILED = "Failed"
    DELETING = "Deleting"


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """One machine as the provider lists it."""

    machine_id: str
    name: str
    request_uid: str
    pool: str
    state: MachineState
    reason: str = ""
    """Of a failed one: why."""
    scope: UnmetScope | None = None
    """Of a failed one: how far the refusal reaches; None if nothing was refused."""
    created_at: datetime | None = None


class Listing(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Our cluster's machines at one provider."""

    at: Instant
    """When it was asked for: it knows everything that was confirmed before."""
    is_complete: bool
    reason: str = ""
    """Of an incomplete one: why."""
    machines: Mapping[str, Machine]
    """By name."""
    calls: int = 0
    """What it took of a limit that others live on too; the next one follows accordingly later."""

    @cached_property
    def by_id(self) -> Mapping[str, Machine]:
        """The same machines by what they are known by: names can be given again."""
        return {machine.machine_id: machine for machine in self.machines.values()}


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """How well the machines of one node class are seen."""

    listing: Listing | None = None
    """The last complete one."""
    before: Listing | None = None
    """The complete one before it: what two of them don't show is gone."""
    blind_since: float | None = None
    """Since which monotonic second no complete listing has come; None while all is well."""
    problem: str = ""
    """Of a blind one: why."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a node class before a machine is bought for it."""

    at: float
    """The monotonic second at which it was asked."""
    generation: int = 0
    """The generation of the class that it is about."""
    failure: FailureClass | None = None
    """Whether no machine can be made: TEMPLATE until the class changes, FATAL until the cloud lets
    us in. None while machines can be made."""
    problems: tuple[str, ...] = ()
    """Everything that is wrong then: what, where, how to mend it."""
    doubts: tuple[str, ...] = ()
    """What the cloud says and isn't believed, such as a price; the last good one holds."""
    found: Mapping[str, Any] = {}
    """What the names in the class stand for, as its status tells it."""


class Provider(Protocol):
    """A cloud."""

    async def check(self) -> Checked:
        """Whether machines can be made for the class; RetryLater while nobody can say."""

    async def offerings(self) -> tuple[Offering, ...]:
        """What can be bought now, in a stable order; RetryLater while nobody can say."""

    async def create(self, order: Order) -> CreateAnswer:
        """Ask for a machine; asking again under the same name makes no second one."""

    async def list(self) -> Listing:
        """Our machines, all of them or a listing that says it isn't complete."""

    async def delete(self, machine: Machine) -> DeleteAnswer:
        """Ask for a machine's end; one that is gone is no failure."""
