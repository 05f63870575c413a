"""When an idle node is marked where every hour that has begun is paid in full.

It costs nothing until its hour ends, so it stays usable and untainted until shortly before: just so
early that it is gone in time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.kinds import NODE_CLASSES
from growth.api.nodepool import PaidHour

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.nodeclass import NodeClass
    from growth.api.nodepool import NodePool

HOUR: Final = 3600.0
MARGIN: Final = 120.0
"""Seconds before the end of the hour by which the provider is asked: its answer takes a while."""
LEAST: Final = 30.0
"""Seconds that an answer needs at least, with one more try."""
WINDOW: Final = MARGIN - LEAST
"""Seconds in which what turns idle is marked at once; later it would be gone after its hour."""


def paid_hour_of(pool: NodePool, node_class: NodeClass | None) -> PaidHour:
    """What the pool says; if it says nothing, what follows from how its provider bills."""
    if pool.spec.scale_down.paid_hour is not None:
        return pool.spec.scale_down.paid_hour
    return PaidHour.USE if _bills_hours(pool, node_class) else PaidHour.IGNORE


def _bills_hours(pool: NodePool, node_class: NodeClass | None) -> bool:
    if node_class is not None:
        return node_class.bills_hours
    reference = pool.spec.node_class_ref
    return reference is not None and NODE_CLASSES[reference.kind].usually_bills_hours


def seconds_until_marked(bought_at: datetime, pool: NodePool, now: datetime) -> float:
    """How long an idle node stays usable; 0 once the moment has come."""
    age = (now - bought_at).total_seconds()
    gone_at = age + pool.spec.scale_down.idle_after.seconds + MARGIN
    into_the_hour = gone_at % HOUR
    return 0.0 if into_the_hour < WINDOW else HOUR - into_the_hour
