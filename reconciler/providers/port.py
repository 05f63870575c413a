"""The port to a cloud: a few calls, each with a closed set of answers.

A provider never decides and never waits. `create` asks and returns; later listings show whether the
machine has come. `create` is idempotent by name: a machine that has the name, the label of this
cluster and the request's uid is adopted.
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
    """A private network: machines of several offerings share it, and it has a maximum size."""

    name: str
    """Unique among the networks of all clouds."""
    most: int
    """The most machines that it can hold."""
    taken: frozenset[str]
    """Ids of the machines that were in it when it was read, including machines of others."""


class Offering(msgspec.Struct, frozen=True, kw_only=True):
    """A server type that can be bought in one location, at one price."""

    provider: str
    server_type: ServerTypeName
    location: str
    price: Decimal
    """The price per hour."""
    currency: str = ""
    """The currency of its prices, such as EUR; empty if the provider doesn't say. Prices are only
    compared and added up within one currency."""
    monthly_cap: Decimal | None = None
    """The maximum price for a calendar month; None if all hours are billed."""
    allocatable: Resources
    """What is left for pods, before DaemonSets."""
    labels: Mapping[str, str] = {}
    """Labels that its node will have: architecture, type, location, and those of the offering."""
    own_labels: Mapping[str, str] = {}
    """Labels of this offering alone. They distinguish offerings of one type in one location."""
    available: int | None = None
    """How many machines of it can be bought; None if no limit is known."""
    rooms: tuple[SharedNetwork, ...] = ()
    """The networks that its machines join, together with those of other offerings."""
    doubts: int = 0
    """How many reasons there are against it. Of equal offerings, the fewest doubts come first."""

    @property
    def name(self) -> str:
        """The name in NodeRequests, such as hetzner-cax11."""
        return f"{self.provider}-{self.server_type.canonical}"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One machine to create, under exactly this name."""

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
    """Annotations of the node, if the provider can set them from the start."""
    taints: tuple[Taint, ...]
    """Taints that the node has when it joins."""
    intended_at: datetime | None = None
    """When the intent was recorded: a younger listing shows the machine if it was created. None
    means just now."""


class FailureClass(StrEnum):
    """Why a machine can't be created, by what to do about it."""

    TRANSIENT = "Transient"
    """Ask again soon."""
    TEMPLATE = "Template"
    """The pool or its node class is wrong: don't ask again until it changes."""
    FATAL = "Fatal"
    """The provider can't be used at all, because of its token or permissions."""


class ProviderTrouble(StrEnum):
    """What a cloud's error means. Every provider maps the errors of its cloud to these."""

    STOCKOUT = "Stockout"
    """This type isn't available in this location."""
    LOCATION_DOWN = "LocationDown"
    """Nothing is available in this location."""
    QUOTA = "Quota"
    """The account has reached a limit."""
    THROTTLED = "Throttled"
    """Too many calls."""
    TRANSIENT = "Transient"
    """The call may or may not have taken effect: ask again under the same name."""
    TEMPLATE = "Template"
    """The request can never succeed as it is."""
    FATAL = "Fatal"
    """The token or its permissions don't allow the call."""


SCOPES: Mapping[ProviderTrouble, UnmetScope] = {
    ProviderTrouble.STOCKOUT: UnmetScope.OFFER,
    ProviderTrouble.LOCATION_DOWN: UnmetScope.LOCATION,
    ProviderTrouble.QUOTA: UnmetScope.PROJECT,
}


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The machine is being created, or exists already."""

    machine_id: str


class Unmet(msgspec.Struct, frozen=True, kw_only=True):
    """The provider refused: it has no such machine now."""

    reason: str
    scope: UnmetScope


class Throttled(msgspec.Struct, frozen=True, kw_only=True):
    """Too many calls; nothing was created."""

    seconds: float
    """How long the provider asks growth to wait."""


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """Not created, or the result isn't known. Asking again under the same name is safe."""

    failure: FailureClass
    reason: str


CreateAnswer = Accepted | Unmet | Throttled | Failed


def refused_create(trouble: ProviderTrouble, *, reason: str, seconds: float = 0.0) -> CreateAnswer:
    """The answer to a create that ran into trouble."""
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
    """The provider's latest answer to one request."""

    at: float
    """The monotonic second at which it came."""
    answer: CreateAnswer


class DeleteOutcome(StrEnum):
    """The result of a delete."""

    ACCEPTED = "Accepted"
    GONE = "Gone"
    FAILED = "Failed"


class DeleteAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's answer to a delete."""

    outcome: DeleteOutcome
    reason: str = ""
    seconds: float = 0.0
    """How long to wait before the next try."""


class Occupied(msgspec.Struct, frozen=True, kw_only=True):
    """The delete wasn't sent, because the API server shows pods on the node."""

    pods: tuple[str, ...]
    """The first of them, as namespace/name."""


class GivenBack(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the last try to delete a machine."""

    at: float
    """The monotonic second at which it came."""
    answer: DeleteAnswer | Occupied


class MachineState(StrEnum):
    """The state of a machine."""

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
    """Why it failed, for a failed machine."""
    scope: UnmetScope | None = None
    """What the refusal covers, for a failed machine; None if nothing was refused."""
    created_at: datetime | None = None
    server_type: str = ""
    """Its type, as the provider names it; empty if the provider doesn't say."""
    location: str = ""
    """Where it is; empty if the provider doesn't say."""
    installation: str = ""
    """The installation of growth that bought it; empty if the provider doesn't say, or if it was
    bought by a growth that wrote no such label."""


class Listing(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The machines of this cluster at one provider."""

    at: Instant
    """When it was requested: it shows everything that was confirmed before."""
    is_complete: bool
    reason: str = ""
    """Why it isn't complete."""
    machines: Mapping[str, Machine]
    """By name."""
    calls: int = 0
    """How many calls it took. Others share the rate limit, so after more calls, growth waits longer
    until the next listing."""

    @cached_property
    def by_id(self) -> Mapping[str, Machine]:
        """The same machines by id, because names can be reused."""
        return {machine.machine_id: machine for machine in self.machines.values()}


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """The latest listings of one node class, and how far they can be trusted."""

    listing: Listing | None = None
    """The last complete one."""
    before: Listing | None = None
    """The complete listing before it. A machine that neither of them shows is gone."""
    blind_since: float | None = None
    """The monotonic second since which no complete listing has come; None if all is well."""
    problem: str = ""
    """Why no complete listing comes."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a node class, before a machine is bought for it."""

    at: float
    """The monotonic second at which the check began."""
    generation: int = 0
    """The generation of the class that was checked."""
    failure: FailureClass | None = None
    """Why no machine can be created: TEMPLATE until the class changes, FATAL until the cloud grants
    access. None if machines can be created."""
    problems: tuple[str, ...] = ()
    """All problems in that case: what, where, and how to fix it."""
    doubts: tuple[str, ...] = ()
    """Values from the cloud that growth doesn't believe, such as a price. It uses the last good
    one."""
    found: Mapping[str, Any] = {}
    """The ids behind the names in the class, as its status shows them."""


class Provider(Protocol):
    """A cloud."""

    async def check(self) -> Checked:
        """Check a class before buying for it. Raises RetryLater if the cloud doesn't answer."""

    async def offerings(self) -> tuple[Offering, ...]:
        """What can be bought now, in a stable order. Raises RetryLater if that isn't known."""

    async def create(self, order: Order) -> CreateAnswer:
        """Ask for a machine. Asking again under the same name never creates a second one."""

    async def list(self) -> Listing:
        """All machines of this cluster, or a listing that says it isn't complete."""

    async def delete(self, machine: Machine) -> DeleteAnswer:
        """Delete a machine. It is no failure if the machine is gone already."""
