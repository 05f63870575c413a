"""KwokNodeClass: the catalogue of a simulated cloud, its speed and its failures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from growth.api import kwoknodeclass_rules
from growth.api.bounds import Atomic, Count, Currency, Labels, MergedBy, Place
from growth.api.meta import KeyReference, PrinterColumn
from growth.api.model import Model
from growth.api.nodeclass import NodeClass, NodeClassStatus
from growth.api.rules import AnyRule
from growth.api.written import Duration, Money, Quantity, ServerType, ServerTypeName, between


class Architecture(StrEnum):
    """A CPU architecture, as in the label of nodes."""

    AMD64 = "amd64"
    ARM64 = "arm64"


class KwokOffer(Model):
    """A server type in one location at one price."""

    location: Place
    """The location."""
    price: Money
    """The price per hour."""
    labels: Labels = Field(default_factory=dict)
    """Labels of its nodes, which override the type's, for example to distinguish spot from on
    demand."""
    available: Count | None = None
    """Maximum number of machines at a time. Unset means any number, 0 means sold out."""


class KwokServerType(Model):
    """A server type of the catalogue."""

    rules: ClassVar[tuple[AnyRule, ...]] = kwoknodeclass_rules.SERVER_TYPE

    name: ServerType
    """Name of the type. Case doesn't matter."""
    resources: Annotated[Mapping[str, Quantity], Field(max_length=32)]
    """Resources of its nodes: cpu and memory, and others such as pods, ephemeral-storage or
    GPUs."""
    architecture: Architecture = Architecture.AMD64
    """amd64 or arm64."""
    labels: Labels = Field(default_factory=dict)
    """Labels of its nodes."""
    offers: Annotated[tuple[KwokOffer, ...], Field(min_length=1, max_length=64), Atomic()]
    """The locations and prices at which it is sold."""


class Billing(StrEnum):
    """How machines are billed."""

    PER_SECOND = "PerSecond"
    HOURLY = "Hourly"


class BootDelay(Model):
    """The time until a machine's node is Ready, evenly distributed between min and max."""

    rules: ClassVar[tuple[AnyRule, ...]] = (kwoknodeclass_rules.MIN_AT_MOST_MAX,)

    min: Annotated[Duration, between("0s", "24h")] = Duration.parse("0s")
    """Minimum time."""
    max: Annotated[Duration, between("0s", "24h")] = Duration.parse("0s")
    """Maximum time."""


class FaultKind(StrEnum):
    """The kinds of failures that can be injected."""

    STOCK_OUT = "StockOut"
    SLOW_BOOT = "SlowBoot"
    FAILED_BOOT = "FailedBoot"
    NEVER_READY = "NeverReady"
    LOST_ANSWER = "LostAnswer"
    DELETE_FAILS = "DeleteFails"
    PRICE_CHANGE = "PriceChange"


class InjectedFault(Model):
    """An injected failure, to see how growth handles it."""

    rules: ClassVar[tuple[AnyRule, ...]] = kwoknodeclass_rules.FAULT

    kind: FaultKind
    """StockOut (no machine left), SlowBoot (takes `delay` longer), FailedBoot (fails after it was
    accepted), NeverReady, LostAnswer (the machine is created, but the answer is lost), DeleteFails,
    PriceChange."""
    server_type: ServerType | None = None
    """Only this type. Unset means all."""
    location: Place | None = None
    """Only this location. Unset means all."""
    count: Annotated[Count, Field(ge=1)] | None = None
    """How often. Unset means always."""
    delay: Annotated[Duration, between("1ms", "24h")] | None = None
    """For SlowBoot: how much longer."""
    price: Money | None = None
    """For PriceChange: the new price."""


class KwokNodeClassSpec(Model):
    """A catalogue, and how its machines behave."""

    rules: ClassVar[tuple[AnyRule, ...]] = kwoknodeclass_rules.SPEC

    types: Annotated[tuple[KwokServerType, ...], Field(max_length=256), MergedBy("name")] = ()
    """The catalogue."""
    catalogue_from: KeyReference | None = None
    """A ConfigMap with the catalogue (a list as in `types`, in YAML or JSON), for large ones."""
    currency: Currency = ""
    """The currency of all prices, such as EUR. Prices in different currencies are neither compared
    nor added."""
    billing: Billing = Billing.PER_SECOND
    """Hourly: a started hour is paid in full, so idle nodes stay until it ends."""
    boot_delay: BootDelay = BootDelay()
    """The time until a machine's node is Ready."""
    faults: Annotated[tuple[InjectedFault, ...], Field(max_length=64), Atomic()] = ()
    """Injected failures."""


class KwokNodeClassStatus(NodeClassStatus):
    """The result of reading the catalogue."""

    types: Count = 0
    """Number of server types in the catalogue."""
    offers: Count = 0
    """Number of offers in the catalogue."""


class KwokNodeClass(NodeClass):
    """A simulated cloud, whose nodes look real to a control plane."""

    kind_names: ClassVar[tuple[str, str, str]] = ("kwoknodeclasses", "kwoknodeclass", "knc")
    provider: ClassVar[str] = "kwok"
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Types", "integer", ".status.types"),
        PrinterColumn("Offers", "integer", ".status.offers"),
    )

    kind: Literal["KwokNodeClass"] = "KwokNodeClass"
    """KwokNodeClass."""
    spec: KwokNodeClassSpec
    """A catalogue, and how its machines behave."""
    status: KwokNodeClassStatus = KwokNodeClassStatus()
    """The result of reading the catalogue, written by growth."""

    @property
    @override
    def currency(self) -> str:
        return self.spec.currency

    @property
    @override
    def bills_hours(self) -> bool:
        return self.spec.billing is Billing.HOURLY

    @property
    @override
    def own_types(self) -> tuple[ServerTypeName, ...] | None:
        return None if self.spec.catalogue_from else tuple(each.name for each in self.spec.types)

    @property
    @override
    def catalogue_reference(self) -> KeyReference | None:
        return self.spec.catalogue_from

    @override
    def disclosed(self) -> dict[str, Any]:
        """All of it: there is no such cloud."""
        whole = self.document()
        return {part: whole[part] for part in ("spec", "status") if part in whole}
