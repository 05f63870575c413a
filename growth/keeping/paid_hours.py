"""When an idle node is marked if each started hour is paid in full.

Until its paid hour ends, the node costs nothing more. So it stays usable and without a taint, and
is marked just early enough to be gone before the next hour begins.
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
"""Seconds before the end of the hour at which the deletion is requested, as it takes a while."""
LEAST: Final = 30.0
"""Seconds that a deletion needs at least, with one more try."""
WINDOW: Final = MARGIN - LEAST
"""Seconds in which an idle node is still marked at once. Later, it would miss its hour's end, and
so it stays for the next hour."""


def paid_hour_of(pool: NodePool, node_class: NodeClass | None) -> PaidHour:
    """The setting of the pool; the default depends on how its provider bills."""
    if pool.spec.scale_down.paid_hour is not None:
        return pool.spec.scale_down.paid_hour
    return PaidHour.USE if _bills_hours(pool, node_class) else PaidHour.IGNORE


def _bills_hours(pool: NodePool, node_class: NodeClass | None) -> bool:
    if node_class is not None:
        return node_class.bills_hours
    reference = pool.spec.node_class_ref
    return reference is not None and NODE_CLASSES[reference.kind].usually_bills_hours


def seconds_until_marked(bought_at: datetime, pool: NodePool, now: datetime) -> float:
    """How long an idle node stays usable; 0 if it must be marked now."""
    # A node that is marked now is deleted after `idle_after`. That is in time if it is between
    # `MARGIN` and `LEAST` before the end of an hour.
    age = (now - bought_at).total_seconds()
    gone_at = age + pool.spec.scale_down.idle_after.seconds + MARGIN
    into_the_hour = gone_at % HOUR
    return 0.0 if into_the_hour < WINDOW else HOUR - into_the_hour
