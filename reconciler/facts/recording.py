"""The record of a machine, as it is written when the machine is bought, or when it is missing."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from growth.api.conditions import joined_conditions
from growth.api.meta import ObjectMeta
from growth.api.noderecord import (
    LONGEST_PLAN,
    LONGEST_REPLACES,
    LONGEST_TEMPLATE,
    MachineClass,
    NodeRecord,
    NodeRecordSpec,
)
from growth.api.standing import conditions
from growth.api.wellknown import PLAN_ANNOTATION, REPLACES_ANNOTATION, TEMPLATE_ANNOTATION
from growth.api.written import ServerTypeName
from reconciler.core.actions import PatchStatus, version_of
from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey, Machine

KIND: Final = "NodeRecord"
FREE: Final = Decimal(0)
"""The price of a machine that is no longer sold: growth doesn't know what it costs."""


def record_of_purchase(
    request: NodeRequest, pool: NodePool, world: World, *, machine_id: str, bought_at: datetime
) -> NodeRecord:
    """What is true of the machine of a request, once the provider has accepted it."""
    key, told, spec = node_class_of(pool, world), request.metadata.annotations, request.spec
    return NodeRecord(
        metadata=ObjectMeta(name=request.name),
        spec=NodeRecordSpec(
            pool=pool.name,
            node_class_ref=MachineClass(kind=key.kind, name=key.name),
            server_type=spec.server_type,
            location=spec.location,
            price=spec.price,
            currency=spec.currency,
            node_id=machine_id,
            request_uid=request.metadata.uid,
            bought_at=bought_at,
            template=_within(LONGEST_TEMPLATE, told.get(TEMPLATE_ANNOTATION)),
            plan=_within(LONGEST_PLAN, told.get(PLAN_ANNOTATION)),
            replaces=_within(LONGEST_REPLACES, told.get(REPLACES_ANNOTATION)),
        ),
    )


def _within(longest: int, text: str | None) -> str | None:
    """The text of an annotation, unless it is longer than growth writes it: others may, too."""
    return text if text is not None and len(text) <= longest else None


def record_of_listing(
    listed: Machine, pool: NodePool, world: World, now: Instant
) -> NodeRecord | None:
    """What the provider knows of a machine; None if it doesn't say its type and place."""
    if not listed.server_type or not listed.location:
        return None
    key = node_class_of(pool, world)
    price, currency = _price(listed, key, world)
    return NodeRecord(
        metadata=ObjectMeta(name=listed.name),
        spec=NodeRecordSpec(
            pool=pool.name,
            node_class_ref=MachineClass(kind=key.kind, name=key.name),
            server_type=ServerTypeName(listed.server_type),
            location=listed.location,
            price=price,
            currency=currency,
            node_id=listed.machine_id,
            request_uid=listed.request_uid,
            bought_at=listed.created_at or now.wall,
        ),
    )


def patched_record(record: NodeRecord, now: Instant, **changes: Any) -> PatchStatus:
    """The record with these changes of its status; None takes a field out."""
    status = record.status.model_copy(update=changes)
    if status.node is not record.status.node:
        changed = record.model_copy(update={"status": status})
        told = joined_conditions(status.conditions, *conditions(changed, now.wall))
        status = status.model_copy(update={"conditions": told})
    document = status.document()
    # A merge patch takes a field out only where it says so.
    gone = {key: None for key in record.status.document() if key not in document}
    return PatchStatus(kind=KIND, version=version_of(record), status={**document, **gone})


def _price(listed: Machine, key: ClassKey, world: World) -> tuple[Decimal, str]:
    for offering in world.offerings.get(key, ()):
        is_its_own = offering.server_type == ServerTypeName(listed.server_type)
        if is_its_own and offering.location == listed.location:
            return offering.price, offering.currency
    return FREE, ""
