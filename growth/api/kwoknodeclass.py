"""KwokNodeClass: the catalogue of a cloud that doesn't exist, its speed and its failures."""

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
    """A processor's architecture, as nodes are labelled."""

    AMD64 = "amd64"
    ARM64 = "arm64"


class KwokOffer(Model):
    """A server type in one place at one price."""

    location: Place
    """Where it is sold."""
    price: Money
    """What it costs an hour."""
    labels: Labels = Field(default_factory=dict)
    """Labels of its nodes, over those of the type: what tells spot from on demand."""
    available: Count | None = None
    """Machines that can be had of it at one time; unset means any number, 0 that it is sold out."""


class KwokServerType(Model):
    """A server type of the catalogue."""

    rules: ClassVar[tuple[AnyRule, ...]] = kwoknodeclass_rules.SERVER_TYPE

    name: ServerType
    """Name of the type; upper or lower case doesn't matter."""
    resources: Annotated[Mapping[str, Quantity], Field(max_length=32)]
    """What a node of it has: cpu and memory, and whatever else (pods, ephemeral-storage, GPUs)."""
    architecture: Architecture = Architecture.AMD64
    """amd64 or arm64."""
    labels: Labels = Field(default_factory=dict)
    """Labels of its nodes."""
    offers: Annotated[tuple[KwokOffer, ...], Field(min_length=1, max_length=64), Atomic()]
    """Where it is sold and at what price."""


class Billing(StrEnum):
    """What a machine is paid by."""

    PER_SECOND = "PerSecond"
    HOURLY = "Hourly"


class BootDelay(Model):
    """How long a machine takes until its node is Ready: evenly spread between the two."""

    rules: ClassVar[tuple[AnyRule, ...]] = (kwoknodeclass_rules.MIN_AT_MOST_MAX,)

    min: Annotated[Duration, between("0s", "24h")] = Duration.parse("0s")
    """At least this."""
    max: Annotated[Duration, between("0s", "24h")] = Duration.parse("0s")
    """At most this."""


class FaultKind(StrEnum):
    """What goes wrong on purpose."""

    STOCK_OUT = "StockOut"
    SLOW_BOOT = "SlowBoot"
    FAILED_BOOT = "FailedBoot"
    NEVER_READY = "NeverReady"
    LOST_ANSWER = "LostAnswer"
    DELETE_FAILS = "DeleteFails"
    PRICE_CHANGE = "PriceChange"


class InjectedFault(Model):
    """A failure that is injected, to see what is done about it."""

    rules: ClassVar[tuple[AnyRule, ...]] = kwoknodeclass_rules.FAULT

    kind: FaultKind
    """StockOut (none left), SlowBoot (takes `delay` longer), FailedBoot (fails after it was
    accepted), NeverReady, LostAnswer (the machine is made, the answer isn't heard),
    DeleteFails, PriceChange."""
    server_type: ServerType | None = None
    """Only this type; unset means all."""
    location: Place | None = None
    """Only this location; unset means all."""
    count: Annotated[Count, Field(ge=1)] | None = None
    """How often; unset means always."""
    delay: Annotated[Duration, between("1ms", "24h")] | None = None
    """For SlowBoot: how much longer."""
    price: Money | None = None
    """For PriceChange: the new price."""


class KwokNodeClassSpec(Model):
    """A catalogue, and how its machines behave."""

    rules: ClassVar[tuple[AnyRule, ...]] = kwoknodeclass_rules.SPEC

    types: Annotated[tuple[KwokServerType, ...], Field(max_length=256), MergedBy("name")] = ()
    """The catalogue, written here."""
    catalogue_from: KeyReference | None = None
    """The catalogue in a ConfigMap (YAML or JSON, the list as in `types`), for large ones."""
    currency: Currency = ""
    """What all prices are in, such as EUR. Prices in two currencies are neither compared nor added
    up."""
    billing: Billing = Billing.PER_SECOND
    """Hourly: a started hour is paid in full, so idle nodes stay until it ends."""
    boot_delay: BootDelay = BootDelay()
    """How long machines take until their nodes are Ready."""
    faults: Annotated[tuple[InjectedFault, ...], Field(max_length=64), Atomic()] = ()
    """Failures that are injected."""


class KwokNodeClassStatus(NodeClassStatus):
    """What came of the catalogue."""

    types: Count = 0
    """Server types of the catalogue."""
    offers: Count = 0
    """Offers of the catalogue."""


class KwokNodeClass(NodeClass):
    """A simulated cloud: nodes that a real control plane takes for real ones."""

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
    """What came of the catalogue; written by growth."""

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
