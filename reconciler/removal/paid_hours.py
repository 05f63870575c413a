"""When an idle node is marked where every hour that has begun is paid in full.

It costs nothing until its hour ends, so it stays usable and untainted until shortly before: just so
early that it is gone in time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.kwoknodeclass import Billing, KwokNodeClass
from growth.api.nodepool import NodeClassKind, PaidHour
from growth.api.wellknown import BOUGHT_AT_ANNOTATION
from growth.api.written import parse_time
from reconciler.planning.offers import node_class_of

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.world import World

HOUR: Final = 3600.0
MARGIN: Final = 120.0
"""Seconds before the end of the hour by which the provider is asked: its answer takes a while."""
WINDOW: Final = 60.0
"""Seconds in which a node may still be marked; later it would be gone after its hour."""


def seconds_until_marked(node: Node, pool: NodePool, world: World, now: Instant) -> float:
    """How long an idle node stays usable; 0 where hours don't matter or the moment has come."""
    if _is_ignored(pool, world):
        return 0.0
    bought_at = _bought_at(node)
    if bought_at is None:
        return 0.0
    gone_at = now.seconds_since(bought_at) + pool.spec.scale_down.idle_after.seconds + MARGIN
    into_the_hour = gone_at % HOUR
    return 0.0 if into_the_hour < WINDOW else HOUR - into_the_hour


def _is_ignored(pool: NodePool, world: World) -> bool:
    wanted = pool.spec.scale_down.paid_hour
    if wanted is not None:
        return wanted is PaidHour.IGNORE
    key = node_class_of(pool, world)
    node_class = world.node_classes.get(key)
    if isinstance(node_class, KwokNodeClass):
        return node_class.spec.billing is not Billing.HOURLY
    return key.kind != NodeClassKind.HETZNER


def _bought_at(node: Node) -> datetime | None:
    """By its annotation, else when it joined."""
    metadata = node.metadata
    for text in (metadata.annotations.get(BOUGHT_AT_ANNOTATION), metadata.creation_timestamp):
        try:
            return parse_time(text or "")
        except ValueError:
            continue
    return None
